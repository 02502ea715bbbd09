import { stripTypeScriptTypes } from 'node:module';

/** Jest sees the same code Node runs: types are stripped in place, so line numbers hold. */
export default {
  process(source, path) {
    return { code: path.endsWith('.ts') ? stripTypeScriptTypes(source) : source };
  },
};
