import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScriptedCall } from '../scriptedModel.ts';

/** Where the agent works, and how it reaches the service. */
interface Place {
  /** The folder with its file. */
  folder: string;
  /** Its own settings and state. */
  home: string;
  baseUrl: string;
  apiKey: string;
  model: string;
}

/** An agent that edits a file by itself. */
interface Agent {
  readonly name: string;
  readonly from: 'npm' | 'pypi';
  readonly package: string;
  readonly command: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Writes its settings. @returns the arguments of the command, and of another one before it */
  settle(place: Place): Promise<{
    before?: string[];
    args: string[];
    environment?: Readonly<Record<string, string>>;
  }>;
  /** The calls of its own tools that do the task, one a turn. Text follows. */
  calls(file: string): ScriptedCall[];
  /** The types of its tools that the model is not offered, as the answers' header names them. */
  readonly leftOut?: string;
  /** What the result of its last call says. */
  readonly ends?: string;
  /** What it says of an answer that breaks off, where that is tried. */
  readonly reports?: RegExp;
}

export const FILE = 'greet.sh';
const TASK = `Change ${FILE} so that it says who pays.`;
const [PLAIN, PAID] = ['Read me.', 'Paid by the job.'];
/** The line of the file, and what becomes of it. */
export const [BEFORE, AFTER] = [`echo '${PLAIN}'`, `echo '${PAID}'`];

/** What the model answers to an agent without tools: the edit as its format writes it. */
export const EDIT_AS_TEXT = `${FILE}
\`\`\`
<<<<<<< SEARCH
${BEFORE}
=======
${AFTER}
>>>>>>> REPLACE
\`\`\``;

/** A text of TOML is one of JSON, too. */
const toml = (name: string, text: string) => `${name} = ${JSON.stringify(text)}`;

/** The pinned agents, with what they send and take. */
export const AGENTS: readonly Agent[] = [
  {
    ...{ name: 'opencode', from: 'npm', package: 'opencode-ai@1.18.33', command: 'opencode' },
    environment: { OPENCODE_DISABLE_MODELS_FETCH: 'true', OPENCODE_DISABLE_AUTOUPDATE: 'true' },
    async settle({ folder, baseUrl, apiKey, model }) {
      const options = { baseURL: `${baseUrl}/v1`, apiKey };
      const limit = { context: 32_768, output: 4_096 };
      const npm = '@ai-sdk/openai-compatible';
      const provider = { svc: { npm, options, models: { [model]: { limit } } } };
      await writeFile(join(folder, 'opencode.json'), JSON.stringify({ provider }));
      return { args: ['run', '--model', `svc/${model}`, TASK] };
    },
    calls: (filePath) => [
      { name: 'read', arguments: { filePath } },
      { name: 'edit', arguments: { filePath, oldString: BEFORE, newString: AFTER } },
    ],
  },
  {
    ...{ name: 'cline', from: 'npm', package: 'cline@3.0.65', command: 'cline' },
    async settle({ home, baseUrl, apiKey, model }) {
      const state = ['--data-dir', home];
      const provider = ['-p', 'openai-compatible', '-k', apiKey, '-m', model];
      return {
        before: ['auth', ...state, ...provider, '-b', `${baseUrl}/v1`],
        args: [...state, '-P', 'openai-compatible', '--json', TASK],
      };
    },
    calls: (path) => [
      { name: 'read_files', arguments: { files: [{ path }] } },
      { name: 'editor', arguments: { path, old_text: BEFORE, new_text: AFTER } },
    ],
  },
  {
    ...{ name: 'continue', from: 'npm', package: '@continuedev/cli@1.5.47', command: 'cn' },
    environment: { CONTINUE_METRICS_ENABLED: '0', CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
    async settle({ home, baseUrl, apiKey, model }) {
      const config = join(home, 'config.yaml');
      const own = { name: 'svc', provider: 'openai', model, apiBase: `${baseUrl}/v1`, apiKey };
      const models = [{ ...own, roles: ['chat'], capabilities: ['tool_use'] }];
      const file = { name: 'svc', version: '0.0.1', schema: 'v1', models };
      // JSON is YAML.
      await writeFile(config, JSON.stringify(file));
      return { args: ['--config', config, '--auto', '--print', TASK] };
    },
    calls: (path) => [
      { name: 'Read', arguments: { filepath: path } },
      {
        name: 'MultiEdit',
        arguments: { file_path: path, edits: [{ old_string: BEFORE, new_string: AFTER }] },
      },
    ],
  },
  {
    ...{ name: 'codex', from: 'npm', package: '@openai/codex@0.171.0', command: 'codex' },
    ...{
      leftOut: 'namespace, web_search',
      ends: PAID,
      reports: /No worker produced a proven answer/,
    },
    async settle({ home, baseUrl, apiKey, model }) {
      const provider = [
        ...[toml('name', 'svc'), toml('base_url', `${baseUrl}/v1`)],
        ...[toml('env_key', 'SVC_KEY'), toml('wire_api', 'responses')],
      ];
      const lines = [toml('model', model), toml('model_provider', 'svc')];
      const config = [...lines, '[model_providers.svc]', ...provider].join('\n');
      await writeFile(join(home, 'config.toml'), config);
      const alone = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
      return {
        args: ['exec', ...alone, TASK],
        environment: { CODEX_HOME: home, SVC_KEY: apiKey },
      };
    },
    calls: (file) =>
      [`cat ${file}`, `sed -i.bak "s/${PLAIN}/${PAID}/" ${file}`, `sh ${file}`].map((cmd) => ({
        ...{ name: 'exec_command', arguments: { cmd } },
      })),
  },
  {
    ...{ name: 'aider', from: 'pypi', package: 'aider-chat==0.86.2', command: 'aider' },
    async settle({ baseUrl, apiKey, model }) {
      const own = ['--openai-api-base', `${baseUrl}/v1`, '--openai-api-key', apiKey];
      const quiet = ['--no-check-update', '--analytics-disable', '--no-show-model-warnings'];
      const alone = ['--yes-always', '--no-git', '--no-gitignore', '--edit-format', 'diff'];
      const task = ['--model', `openai/${model}`, '--message', TASK, FILE];
      return { args: [...own, ...quiet, ...alone, ...task] };
    },
    calls: () => [],
  },
];
