import type { PluginLayer } from '@parley/plugins';

/** Always the same, so it stands among what changes least; `after` would name another place. */
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
