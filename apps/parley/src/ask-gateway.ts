import { reasonOf } from '@parley/contracts';
import type { z } from 'zod';
import { CliError } from './cli-error.ts';
import type { FoundGateway } from './find-gateway.ts';

const ANSWER_WITHIN_MS = 5_000;

/** A path of the gateway’s API; with `body` it is posted, as JSON. */
export interface GatewayQuestion<Answer> {
  readonly path: string;
  readonly body?: object;
  readonly answer: z.ZodType<Answer>;
}

/**
 * Asks a running gateway. Throws CliError (`status-unanswered`) when it does not
 * answer, or not as a Parley of this version does.
 */
export async function askRunning<Answer>(
  { pid, address, token }: FoundGateway,
  { path, body, answer }: GatewayQuestion<Answer>,
): Promise<Answer> {
  try {
    const response = await fetch(`${address}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return answer.parse(await response.json());
  } catch (error) {
    throw new CliError(
      'status-unanswered',
      `Process ${pid} should be a Parley at ${address}, but does not tell how it is (${reasonOf(error)}). If it hangs, end it and start again; nothing is lost by that.`,
      error,
    );
  }
}
