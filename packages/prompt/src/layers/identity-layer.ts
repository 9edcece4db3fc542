import type { Layer } from '../layer.ts';

/** Who the agent is, in one line: it opens the prompt. */
export const identityLayer: Layer = {
  id: 'identity',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'none'],
  render({ identity }, { heading }) {
    const { name, role, emoji } = identity;
    const who = emoji === undefined ? name : `${name} ${emoji}`;
    const what = role === undefined ? '' : ` Your role: ${role}.`;
    const line = `You are ${who}.${what} You talk with people in chats; Parley carries the messages between you and them.`;
    const text = heading === undefined ? line : `${heading}\n${line}`;
    return { text, source: 'identity', audience: { kind: 'everyone' } };
  },
};
