import type { Layer } from '../layer.ts';
import { shownPath } from './shown-path.ts';

/** Where the agent's own files are. */
export const workspaceFolderLayer: Layer = {
  id: 'workspace-folder',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'minimal'],
  render: ({ facts, home }, { heading = '## Workspace' }) => ({
    text: `${heading}\nYour folder is ${shownPath(facts.workspace, home)}. Files that you read or write are there, and nowhere else; name them relative to it.`,
    source: 'runtime facts',
    audience: { kind: 'everyone' },
  }),
};
