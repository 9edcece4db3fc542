import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

/** An answer from the model: either text or a single tool call. */
export type ScriptedAnswer =
  | string
  | { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

/** A model provider on the loopback interface that gives scripted answers in order. */
export interface ScriptedModel {
  readonly baseUrl: string;
  /** The tool results that the provider received, oldest first. */
  readonly toolResults: readonly string[];
  close(): Promise<void>;
}

/** The part of a request that the provider reads. */
const Asked = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});

/** When no scripted answers are left, the provider answers with an explanation. */
export async function startScriptedModel(
  answers: readonly ScriptedAnswer[],
): Promise<ScriptedModel> {
  const left = [...answers];
  const toolResults: string[] = [];
  const server = createServer(async (request, response) => {
    const { messages } = Asked.parse(await json(request));
    const last = messages.at(-1);
    if (last?.role === 'tool') toolResults.push(String(last.content));
    const body = toCompletionResponse(
      left.shift() ?? 'The test does not provide any more answers.',
    );
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    toolResults,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Formats an answer as in the OpenAI API. */
function toCompletionResponse(answer: ScriptedAnswer): object {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (typeof answer === 'string') {
    const message = { role: 'assistant', content: answer };
    return { choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  }
  const called = { name: answer.tool, arguments: JSON.stringify(answer.arguments) };
  const calls = [{ id: 'call_1', type: 'function', function: called }];
  const message = { role: 'assistant', content: '', tool_calls: calls };
  return { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
}
