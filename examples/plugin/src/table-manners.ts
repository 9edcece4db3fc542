import type { PluginLayer } from '@parley/plugins';

/**
 * The text never changes, so it belongs with the most stable parts of the prompt; `after` would
 * choose another position.
 */
export const tableManners: PluginLayer = {
  id: 'table-manners',
  volatility: 'static',
  placement: 'system',
  render: () => ({
    text: '## Games\nWhen a game is played, keep the score, tell every roll as it fell, and let nobody win out of kindness.',
    source: 'games-table',
    audience: { kind: 'everyone' },
  }),
};
