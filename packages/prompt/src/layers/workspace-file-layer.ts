import type { Layer, LayerId, Volatility } from '../layer.ts';
import { modesOf, purposeOf, readContextFile } from './context-file.ts';
import { pointToTools } from './tools-placeholder.ts';

interface WorkspaceFileLayer {
  readonly id: LayerId;
  /** Path in the workspace. */
  readonly file: string;
  readonly volatility: Volatility;
}

/** A layer that is one file of the workspace, with its name as heading and its purpose below. */
export function workspaceFileLayer({ id, file, volatility }: WorkspaceFileLayer): Layer {
  return {
    id,
    volatility,
    placement: 'system',
    modes: modesOf(file),
    reads: [file],
    async render(context, { heading = `## ${file}`, characters }) {
      const found = await readContextFile(context, file, characters);
      if ('absent' in found) return found;
      const { source, audience, cut } = found;
      const text = `${heading}\n${below(file)}${pointToTools(found.text)}`;
      return { text, source, audience, cut };
    },
  };
}

function below(file: string): string {
  const purpose = purposeOf(file);
  return purpose === '' ? '' : `Purpose: ${purpose}\n\n`;
}
