import type { Layer } from '../layer.ts';
import { shownWorkspace } from './shown-path.ts';

/** Where the agent's own files are. */
export const workspaceFolderLayer: Layer = {
  id: 'workspace-folder',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'minimal'],
  render: (context, { heading = '## Workspace' }) => ({
    text: `${heading}\nYour folder is ${shownWorkspace(context)}. Files that you read or write are there, and nowhere else; name them relative to it.`,
    source: 'runtime facts',
    audience: { kind: 'everyone' },
  }),
};
