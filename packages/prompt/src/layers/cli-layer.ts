import type { Layer } from '../layer.ts';

const TEXT = `Your owner runs you with the command \`parley\` in a terminal: \`parley start\`, \`parley chat\`, \`parley status\`, \`parley pair CODE\` to let somebody in, \`parley config check\`. \`parley --help\` lists all there is. Never make up a command; when you are not sure, point to the help.`;

/** How the owner runs Parley, so that the agent can say so and invents no commands. */
export const cliLayer: Layer = {
  id: 'cli',
  volatility: 'static',
  placement: 'system',
  render: (_, { heading = '## CLI' }) => ({
    text: `${heading}\n${TEXT}`,
    source: 'Parley',
    audience: { kind: 'everyone' },
  }),
};
