import type { Reader } from '@parley/core';
import { cutText, type WorkspaceView } from '@parley/workspace';
import { viewOf } from './example-turn.ts';

/** A view like `viewOf` that cuts long files as the real one does. */
export function cuttingView(
  reader: Reader,
  files: Readonly<Record<string, string>>,
): WorkspaceView {
  const view = viewOf(reader, files);
  return {
    ...view,
    async read(name, limit = 20_000) {
      const found = await view.read(name);
      if (found.kind === 'absent') return found;
      const { text, cut } = cutText(found.text, limit, name);
      return { ...found, text, cut, characters: text.length };
    },
  };
}
