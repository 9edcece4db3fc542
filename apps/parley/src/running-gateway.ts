import { hostname } from 'node:os';
import { reasonOf, systemTime } from '@parley/core';
import { z } from 'zod';
import {
  CliError,
  type DataFolder,
  findInstance,
  type GatewayInstance,
  readToken,
  UsageError,
} from './data-folder.ts';
import { checkSettings, type LoadedSettings } from './settings.ts';

export interface FoundGateway extends GatewayInstance {
  readonly token: string;
}

/**
 * Finds the gateway that runs on the data folder, or another one on this machine with the same
 * database.
 */
export async function findGateway(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
): Promise<FoundGateway | null> {
  const checked = checkSettings(folder, env);
  const settings = checked.kind === 'ok' ? checked.settings : undefined;
  const instance = findInstance(folder) ?? (await findNeighborGateway(settings?.store.url));
  if (instance === null) return null;
  // If the data folder has no token, no gateway has run on it, so the empty token will be rejected.
  return { ...instance, token: settings?.http.token ?? readToken(folder) ?? '' };
}

async function findNeighborGateway(
  url: LoadedSettings['settings']['store']['url'],
): Promise<GatewayInstance | null> {
  if (url === undefined) return null;
  // The store is loaded only here: most installations keep their database in the data folder and do
  // not need it.
  const { openStore } = await import('@parley/store');
  const store = await openStore({ url, clock: systemTime.clock });
  try {
    const here = hostname();
    const running = await store.processes.list();
    const gateway = running.find(({ host, role }) => host === here && role !== 'worker');
    if (gateway === undefined) return null;
    const { pid, address } = gateway;
    return { pid, address: address.replace(`//${here}:`, '//127.0.0.1:') };
  } finally {
    await store.close();
  }
}

const ANSWER_WITHIN_MS = 5_000;

/** A request to the API of a gateway, sent as POST if it has a `body`. */
export interface GatewayRequest {
  readonly method?: 'POST' | 'DELETE' | undefined;
  readonly body?: object | undefined;
  /** The deadline (ms); the default is `ANSWER_WITHIN_MS`. */
  readonly withinMs?: number | undefined;
}

/**
 * Sends a request to a running gateway. `Answer` is the gateway's type for the response. Throws
 * CliError `refused`, or `status-unanswered` if the response does not come from Parley.
 */
export async function askGateway<Answer>(
  gateway: FoundGateway,
  path: string,
  question: GatewayRequest = {},
): Promise<Answer> {
  const { pid, address } = gateway;
  try {
    const signal = AbortSignal.timeout(question.withinMs ?? ANSWER_WITHIN_MS);
    const response = await requestGateway(gateway, path, signal, question);
    if (isUnknownRoute(response)) throw createOtherVersionError(gateway, `it has no ${path}`);
    return await parseGatewayResponse(gateway, response);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      'status-unanswered',
      `Process ${pid} should be a Parley gateway at ${address}, but it does not report its state (${reasonOf(error)}). If it hangs, end it and start again. Nothing will be lost.`,
      error,
    );
  }
}

/** Adds the requested agent to an API path. */
export function addAgentToPath(path: string, agent: string | undefined): string {
  if (agent === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}agent=${encodeURIComponent(agent)}`;
}

/**
 * Returns whether the gateway has no such route. For an unknown route, the gateway responds with
 * text before it authenticates the caller; all other refusals are JSON.
 */
function isUnknownRoute({ status, headers }: Response): boolean {
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return (status === 404 || status === 405) && !isJson;
}

/**
 * Creates the error for a gateway that does not support the command's request or responds in an
 * unexpected form.
 */
export function createOtherVersionError(
  { pid }: Pick<FoundGateway, 'pid'>,
  cause: unknown,
): CliError {
  return new CliError(
    'status-unanswered',
    `Process ${pid} sent an answer that this command does not understand (${reasonOf(cause)}). It may be running another version of Parley. Restart it; nothing will be lost.`,
    cause,
  );
}

const Refusal = z.object({ error: z.string(), code: z.string().optional() });

/**
 * Returns the parsed response of a gateway. Throws CliError `refused`, or UsageError, with the
 * reason from the route. When the access check refuses a request before it reaches a route, the
 * response is not JSON.
 */
async function parseGatewayResponse<Answer>(
  gateway: FoundGateway,
  response: Response,
): Promise<Answer> {
  if (response.ok) return JSON.parse(await response.text());
  const refusal = Refusal.safeParse(await response.json().catch(() => undefined));
  if (refusal.data?.code === 'no-operation')
    throw createOtherVersionError(gateway, refusal.data.error);
  if (refusal.success) throw createRefusedError(refusal.data.error, refusal.data.code);
  throw new Error(`it answered ${response.status}`);
}

/**
 * Creates the error for a refused request. If the operation rejects the values, the error is a
 * UsageError.
 */
export function createRefusedError(reason: string, code?: string): CliError {
  return code === 'wrong-input' ? new UsageError(reason) : new CliError('refused', reason);
}

export function isRefusedError(error: unknown): error is CliError {
  return error instanceof CliError && error.code === 'refused';
}

function toRequestInit({ method, body }: GatewayRequest): RequestInit {
  if (body === undefined) return { method: method ?? 'GET' };
  return { method: method ?? 'POST', body: JSON.stringify(body) };
}

/** Sends a request with the gateway's token, and returns the unprocessed response. */
export function requestGateway(
  { address, token }: Pick<FoundGateway, 'address' | 'token'>,
  path: string,
  signal: AbortSignal,
  question: GatewayRequest,
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'user-agent': 'the command line of Parley',
  };
  return fetch(`${address}${path}`, { ...toRequestInit(question), headers, signal });
}
