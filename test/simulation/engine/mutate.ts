import { registerHooks } from 'node:module';

const ROOT = new URL('../../../', import.meta.url).href;

/**
 * A piece of module source that is replaced while the module is loaded; the file itself does not
 * change.
 */
export interface SourceReplacement {
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

/**
 * Plants a fault. Throws while the module is loaded unless its text occurs exactly once, since
 * another place would be a different fault. The returned function tells whether the module was
 * loaded.
 */
export function plantFault({ file, text, by }: SourceReplacement): () => boolean {
  let isPlanted = false;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url !== ROOT + file) return loaded;
      const source = String(loaded.source);
      const count = source.split(text).length - 1;
      if (count !== 1)
        throw new Error(`${file} contains the text to replace ${count} times: ${text}`);
      isPlanted = true;
      return { ...loaded, source: source.replace(text, () => by) };
    },
  });
  return () => isPlanted;
}
