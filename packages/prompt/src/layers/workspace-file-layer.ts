import { absent, type Layer, type LayerId, type Volatility } from '../layer.ts';

interface WorkspaceFileLayer {
  readonly id: LayerId;
  /** Path in the workspace. */
  readonly file: string;
  /** What the file is for, told to the model. */
  readonly purpose: string;
  readonly volatility: Volatility;
}

/** A layer that is one file of the workspace, with its name as heading and its purpose below. */
export function workspaceFileLayer({ id, file, purpose, volatility }: WorkspaceFileLayer): Layer {
  return {
    id,
    volatility,
    placement: 'system',
    async render({ view }, limits) {
      const found = await view.read(file, limits.characters);
      if (found.kind === 'absent') {
        const detail = found.detail === undefined ? '' : ` (${found.detail})`;
        return absent(`${file}: ${found.reason}${detail}`);
      }
      const { source, audience, cut } = found;
      return { text: `## ${file}\nPurpose: ${purpose}\n\n${found.text}`, source, audience, cut };
    },
  };
}
