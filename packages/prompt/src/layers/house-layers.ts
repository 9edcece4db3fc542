import type { Layer } from '../layer.ts';
import { formatLayer } from './format-layer.ts';
import { groupContextLayer } from './group-context-layer.ts';
import { identityLayer } from './identity-layer.ts';
import { messageContextLayer } from './message-context-layer.ts';
import { runtimeFactsLayer } from './runtime-facts-layer.ts';
import { toolsLayer } from './tools-layer.ts';
import { workspaceFileLayer } from './workspace-file-layer.ts';

/** The layers that come with Parley, for `createLayerRegistry`; safety is always there by itself. */
export function houseLayers(): readonly Layer[] {
  return [
    identityLayer,
    workspaceFileLayer({
      id: 'agents-file',
      file: 'AGENTS.md',
      purpose: 'how you work here; follow it unless Safety says otherwise.',
      volatility: 'static',
    }),
    workspaceFileLayer({
      id: 'soul-file',
      file: 'SOUL.md',
      purpose: 'your character and tone; let it colour what you say, without mentioning it.',
      volatility: 'static',
    }),
    toolsLayer,
    formatLayer,
    runtimeFactsLayer,
    groupContextLayer,
    messageContextLayer,
  ];
}
