import { stripTypeScriptTypes } from 'node:module';

/** Jest runs the same code as Node: types are stripped in place, so line numbers stay correct. */
export default {
  process(source, path) {
    return { code: path.endsWith('.ts') ? stripTypeScriptTypes(source) : source };
  },
};
