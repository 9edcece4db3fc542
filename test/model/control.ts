import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { readJson, sendJson } from './json-http.ts';
import type { ModelDouble } from './model-double.ts';
import { ModelFault } from './model-fault.ts';
import { ScriptedReply } from './scripted-reply.ts';

const FaultBody = z.strictObject({
  fault: ModelFault,
  /** The number of requests that fail; `forever` means until the faults are cleared. */
  times: z.union([z.int().positive(), z.literal('forever')]).default(1),
});
const PaceBody = z.strictObject({
  latencyMs: z.number().nonnegative().optional(),
  pieceMs: z.number().nonnegative().optional(),
});
const QueueBody = z.strictObject({ replies: z.array(ScriptedReply) });

type ControlAction = (double: ModelDouble, body: unknown, query: URLSearchParams) => unknown;

const ACTIONS: Readonly<Record<string, ControlAction>> = {
  'POST fault': (double, body) => {
    const { fault, times } = FaultBody.parse(body);
    double.fault(fault, times === 'forever' ? Number.POSITIVE_INFINITY : times);
  },
  'POST clear-faults': (double) => double.clearFaults(),
  'POST pace': (double, body) => {
    const pace = PaceBody.parse(body);
    double.latencyMs = pace.latencyMs ?? double.latencyMs;
    double.pieceMs = pace.pieceMs ?? double.pieceMs;
  },
  'POST queue': (double, body) => double.queue(...QueueBody.parse(body).replies),
  'POST forget': (double) => double.forget(),
  'GET requests': (double, _body, query) => {
    const after = Number(query.get('after') ?? 0);
    return double.requests.filter((request) => request.seq > after);
  },
  'GET status': (double) => ({ total: double.total, open: double.open }),
};

/** Answers `/control/<action>`: 404 for an unknown action, 400 for an invalid body. */
export async function handleControl(
  double: ModelDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '', double.baseUrl);
  const action = ACTIONS[`${request.method} ${url.pathname.slice('/control/'.length)}`];
  if (action === undefined) {
    return sendJson(response, 404, { error: `Known: ${Object.keys(ACTIONS).join(', ')}` });
  }
  try {
    const answer = action(double, await readJson(request), url.searchParams);
    sendJson(response, 200, answer ?? { done: true });
  } catch (error) {
    sendJson(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}
