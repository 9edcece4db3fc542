import type { Layer } from '../layer.ts';

/** Who the agent is, in one line: it opens the prompt. */
export const identityLayer: Layer = {
  id: 'identity',
  volatility: 'static',
  placement: 'system',
  render({ identity }) {
    const { name, role, emoji } = identity;
    const who = emoji === undefined ? name : `${name} ${emoji}`;
    const what = role === undefined ? '' : ` Your role: ${role}.`;
    const text = `You are ${who}.${what} You talk with people in chats; Parley carries the messages between you and them.`;
    return { text, source: 'identity', audience: { kind: 'everyone' } };
  },
};
