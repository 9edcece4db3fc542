import { describe, expect, it } from 'vitest';
import { getConversationAgent, removeAgentPrefix, toAgentConversation } from './agents.ts';

describe('conversation ids with several agents', () => {
  it.each([
    [undefined, 'telegram:default:42', 'telegram:default:42'],
    ['support', 'telegram:default:42', '@support/telegram:default:42'],
    ['support', '@lab/sub:1', '@support/sub:1'],
    [undefined, '@lab/linked:1', 'linked:1'],
    ['lab-2', 'telegram:default:%40a%2Fb', '@lab-2/telegram:default:%40a%2Fb'],
  ])('[F14] for the agent %j, %s becomes %s', (agent, id, own) => {
    expect(toAgentConversation(agent, id)).toBe(own);
    expect(getConversationAgent(own)).toBe(agent);
    expect(removeAgentPrefix(own)).toBe(removeAgentPrefix(id));
  });
});
