import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { silentLogger } from '@parley/core';
import { openTurnQueue } from '@parley/queue';
import type { TOOLS } from './ask-model.ts';
import { type AskModel, runBot, serveChat } from './durable-core.ts';

// The smallest durable bot with the two libraries that Parley is built on: BullMQ jobs wake chats
// that have unanswered messages, and an AI SDK provider calls the model. The difference from Parley
// is the cost of Parley's own code.

const provider = createOpenAICompatible({
  name: 'double',
  baseURL: process.env.MODEL_URL ?? '',
  includeUsage: true,
});
const model = provider.chatModel('double');

const ask: AskModel = async (messages, tools) => {
  const result = await model.doStream({
    prompt: messages.map(({ role, content }) =>
      role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] },
    ),
    tools: (tools as typeof TOOLS).map(({ function: { name, description, parameters } }) => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters,
    })),
  });
  const answer = { text: '', tokensIn: 0, tokensOut: 0 };
  for await (const part of result.stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') answer.text += part.delta;
    if (part.type !== 'finish') continue;
    answer.tokensIn = part.usage.inputTokens.total ?? 0;
    answer.tokensOut = part.usage.outputTokens.total ?? 0;
  }
  return answer;
};

const queue = await openTurnQueue({ url: 'memory:', log: silentLogger });
await queue.work(async (chat) => {
  await serveChat(Number(chat), ask);
  return null;
}, 50);
await runBot((chat) => void queue.wake(String(chat)));
