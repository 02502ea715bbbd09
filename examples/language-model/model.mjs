import { getLlama, LlamaChat, LlamaLogLevel, resolveChatWrapper } from 'node-llama-cpp';
import { createPool } from './pool.mjs';
import { ChatError } from './request.mjs';

/** Tokens that the library keeps free at the end of a context. */
const SPARE_TOKENS = 2;

/**
 * A model from a GGUF file, run by the prebuilt binaries: nothing is downloaded or compiled.
 *
 * @param options.file path of the GGUF file
 * @param options.capacity answers generated at the same time; further ones wait
 * @param options.threads cores that compute; more than are free make all of them wait for each other
 */
export async function openModel({ file, capacity, threads }) {
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: file });
  const contextSize = model.trainContextSize;
  const context = await model.createContext({ contextSize, sequences: capacity, threads });
  const sequences = createPool(Array.from({ length: capacity }, () => context.getSequence()));
  const chatWrapper = resolveChatWrapper(model);

  return {
    /**
     * Generates one answer.
     *
     * @param chat what `parseChat` made of the request
     * @param options.onText called with each piece of the answer, which is never empty
     * @param options.signal ends the work; its reason is thrown
     * @throws ChatError when the conversation does not fit the context
     */
    async generate(chat, { onText, signal }) {
      const history = toHistory(chat.messages);
      const { contextText } = chatWrapper.generateContextState({ chatHistory: history });
      const promptTokens = contextText.tokenize(model.tokenizer).length;
      const tokensLeft = contextSize - promptTokens - SPARE_TOKENS;
      if (tokensLeft < 1) throw tooLong(contextSize, promptTokens);
      return sequences.use(signal, async (contextSequence) => {
        const generator = new LlamaChat({ contextSequence, chatWrapper });
        const before = contextSequence.tokenMeter.getState();
        try {
          const { metadata } = await generator.generateResponse(history, {
            signal,
            onTextChunk: (text) => text !== '' && onText(text),
            maxTokens: Math.min(chat.maxTokens ?? tokensLeft, tokensLeft),
            temperature: chat.temperature,
            topP: chat.topP,
            seed: chat.seed,
            customStopTriggers: chat.stop,
            repeatPenalty: {
              frequencyPenalty: chat.frequencyPenalty,
              presencePenalty: chat.presencePenalty,
            },
          });
          const { usedOutputTokens } = contextSequence.tokenMeter.diff(before);
          return {
            finishReason: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
            promptTokens,
            completionTokens: usedOutputTokens,
          };
        } finally {
          generator.dispose();
        }
      });
    },
  };
}

/** The library's history: the model's next turn is its last item, still empty. */
function toHistory(messages) {
  const turns = messages.map(({ role, content }) =>
    role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content },
  );
  return [...turns, { type: 'model', response: [] }];
}

function tooLong(contextTokens, promptTokens) {
  return new ChatError(
    `This model's maximum context length is ${contextTokens} tokens. ` +
      `However, your messages resulted in ${promptTokens} tokens.`,
    { code: 'context_length_exceeded', param: 'messages' },
  );
}
