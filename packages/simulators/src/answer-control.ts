import type { IncomingMessage, ServerResponse } from 'node:http';

/** Handles one action of `/control/`; the return value becomes the response body. */
type ControlAction<Double> = (double: Double, body: unknown, query: URLSearchParams) => unknown;

/** Actions keyed by method and name, for example `POST say`. */
type ControlActions<Double> = Readonly<Record<string, ControlAction<Double>>>;

const MAX_WAIT_MS = 60_000;

/** Answers `/control/<action>` with JSON: 404 for an unknown action, 400 for an invalid body. */
export function createControlHandler<Double>(actions: ControlActions<Double>) {
  return async (double: Double, request: IncomingMessage, response: ServerResponse, url: URL) => {
    const action = actions[`${request.method} ${url.pathname.slice('/control/'.length)}`];
    if (action === undefined) {
      sendReply(response, 404, { error: `Known: ${Object.keys(actions).join(', ')}` });
      return;
    }
    try {
      const text = Buffer.concat(await request.toArray()).toString();
      const body: unknown = text === '' ? {} : JSON.parse(text);
      sendReply(response, 200, await action(double, body, url.searchParams));
    } catch (error) {
      sendReply(response, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  };
}

/**
 * Returns the log entries after `?after=` (a `seq`), waiting up to `?wait=` ms for the first one.
 */
export function waitForNewest<T>(
  double: {
    waitFor<S>(look: () => S | undefined | false, timeoutMs: number): Promise<S>;
  },
  query: URLSearchParams,
  later: (seq: number) => readonly T[],
): Promise<readonly T[]> {
  const after = Number(query.get('after') ?? 0);
  const waitMs = Math.min(Number(query.get('wait') ?? 0), MAX_WAIT_MS);
  const found = () => later(after);
  return double.waitFor(() => found().length > 0 && found(), waitMs).catch(found);
}

function sendReply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body ?? { done: true }, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
