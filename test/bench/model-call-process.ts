import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { silentLogger, systemTime } from '@parley/core';
import { createChatModel, type ModelRequest, ModelSettings } from '@parley/models';
import { z } from 'zod';

// Makes model calls with one of the compared clients, in a separate process, and reports the
// processor time per call, user and system, of all threads.

export const CallOrder = z.object({
  client: z.enum(['parley', 'parley, nothing kept', 'ai-sdk']),
  baseUrl: z.string(),
  warmUp: z.int(),
  calls: z.int(),
});
export type CallOrder = z.infer<typeof CallOrder>;

/**
 * The size of an owner's prompt: about 30 kB of system prompt, 25 kB of tools, 12 kB of history.
 */
const SENTENCE =
  'Answer in the language of the question – briefly, and say where you are not sure. ';
const LAYERS = Array.from({ length: 8 }, (_, nth) => SENTENCE.repeat(45) + nth);
const TOOLS = Array.from({ length: 30 }, (_, nth) => ({
  name: `tool_${nth}`,
  description: SENTENCE.repeat(6),
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: SENTENCE }, limit: { type: 'integer' } },
    required: ['query'],
  },
}));

process.once('message', async (message) => {
  const order = CallOrder.parse(message);
  const call = createCaller(order);
  for (let nth = 0; nth < order.warmUp; nth += 1) await call(nth);
  const before = process.cpuUsage();
  for (let nth = 0; nth < order.calls; nth += 1) await call(order.warmUp + nth);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ result: (user + system) / order.calls });
});

function createCaller({ client, baseUrl }: CallOrder): (nth: number) => Promise<void> {
  if (client === 'ai-sdk') return createSdkCaller(baseUrl);
  const settings = {
    provider: 'openai-compatible',
    baseUrl,
    model: 'double',
  };
  const { model } = createChatModel(ModelSettings.parse(settings), {
    settingsFile: 'parley.yaml',
    ...systemTime,
    logger: silentLogger,
  });
  const { signal } = new AbortController();
  return async (nth) => {
    const request = createRequest(nth, client === 'parley, nothing kept');
    for await (const event of model.stream(request, signal)) if (event.type === 'finish') return;
  };
}

function createRequest(nth: number, isNew: boolean): ModelRequest {
  const mark = isNew ? ` ${nth}` : '';
  return {
    system: [
      ...LAYERS.map((text) => ({ text: text + mark, stable: true })),
      { text: `It is minute ${nth}.`, stable: false },
    ],
    messages: createHistory(nth),
    tools: isNew ? TOOLS.map((tool) => ({ ...tool })) : TOOLS,
  };
}

function createHistory(nth: number): ModelRequest['messages'] {
  return Array.from({ length: 41 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${nth + at}: ${SENTENCE.repeat(3)}`,
  }));
}

/** A call at this API level, as shown in the AI SDK's documentation. */
function createSdkCaller(baseURL: string): (nth: number) => Promise<void> {
  const provider = createOpenAICompatible({ name: 'double', baseURL, includeUsage: true });
  const model = provider.chatModel('double');
  return async (nth) => {
    const { system, messages } = createRequest(nth, false);
    const result = await model.doStream({
      prompt: [
        { role: 'system', content: system.map(({ text }) => text).join('\n\n') },
        ...messages.map(({ role, content }) =>
          role === 'assistant'
            ? { role, content: [{ type: 'text' as const, text: content }] }
            : { role: 'user' as const, content: [{ type: 'text' as const, text: content }] },
        ),
      ],
      tools: TOOLS.map((tool) => ({ type: 'function', ...tool })),
    });
    for await (const part of result.stream) if (part.type === 'error') throw part.error;
  };
}
