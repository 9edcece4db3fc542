import { registerHooks } from 'node:module';

const ROOT = new URL('../../../', import.meta.url).href;

/** A text of a module that is replaced while it is loaded; the file itself stays as it is. */
export interface Replacement {
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

/**
 * Plants a fault. Throws while the module is loaded where its text is not there, or not once, since then the fault
 * would not be the one that is meant. Returns whether the module was loaded.
 */
export function plantFault({ file, text, by }: Replacement): () => boolean {
  let isPlanted = false;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url !== ROOT + file) return loaded;
      const source = String(loaded.source);
      const count = source.split(text).length - 1;
      if (count !== 1) throw new Error(`${file} has the text to replace ${count} times: ${text}`);
      isPlanted = true;
      return { ...loaded, source: source.replace(text, () => by) };
    },
  });
  return () => isPlanted;
}
