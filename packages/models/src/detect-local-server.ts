import { localCandidates, pickChatModel } from './local-servers.ts';

/** A local server that can answer, and the model it is asked for. */
export interface LocalServer {
  readonly baseUrl: string;
  readonly model: string;
}

/** The servers to look at and the means to do so. */
export interface DetectDeps {
  readonly fetch: typeof globalThis.fetch;
  /** The variable OLLAMA_HOST, where set. */
  readonly ollamaHost: string | undefined;
  /** Base URLs to ask instead of the usual ones. */
  readonly candidates?: readonly string[];
}

/** How long a local server may take to list its models, in ms. */
const DETECT_MS = 400;

/** Asks all candidates at once; the best that lists a chat model wins. Never throws. */
export async function detectLocalServer(deps: DetectDeps): Promise<LocalServer | null> {
  const candidates = deps.candidates ?? localCandidates(deps.ollamaHost);
  const found = await Promise.all(candidates.map((baseUrl) => askForModel(baseUrl, deps.fetch)));
  return found.find((server) => server !== null) ?? null;
}

async function askForModel(
  baseUrl: string,
  fetch: typeof globalThis.fetch,
): Promise<LocalServer | null> {
  try {
    const signal = AbortSignal.timeout(DETECT_MS);
    const response = await fetch(`${baseUrl}/models`, { signal, redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    const model = pickChatModel(await response.json());
    return model === null ? null : { baseUrl, model };
  } catch {
    // Nobody listens, or it is something other than a model server: both mean "not here".
    return null;
  }
}
