import { json } from 'node:stream/consumers';
import { localCandidates, pickChatModel } from './local-servers.ts';

/** A local server that can answer, and the model it is asked for. */
export interface LocalServer {
  readonly baseUrl: string;
  readonly model: string;
}

/** The JSON that a server answers to GET; null: it answers something else than 200. */
export type ReadJson = (url: string, signal: AbortSignal) => Promise<unknown>;

/** The servers to look at and the means to do so. */
export interface DetectDeps {
  readonly readJson?: ReadJson;
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
  const readJson = deps.readJson ?? httpJson;
  const found = await Promise.all(candidates.map((baseUrl) => askForModel(baseUrl, readJson)));
  return found.find((server) => server !== null) ?? null;
}

async function askForModel(baseUrl: string, readJson: ReadJson): Promise<LocalServer | null> {
  try {
    const model = pickChatModel(
      await readJson(`${baseUrl}/models`, AbortSignal.timeout(DETECT_MS)),
    );
    return model === null ? null : { baseUrl, model };
  } catch {
    // Nobody listens, or it is something other than a model server: both mean "not here".
    return null;
  }
}

/** Without `fetch`, which takes a process 16 MB at its first call: most find no server. */
function httpJson(url: string, signal: AbortSignal): Promise<unknown> {
  // Imported as modules, these load Node's `fetch`.
  const { get } = url.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const request = get(url, { signal, agent: false }, (response) => {
      if (response.statusCode === 200) return json(response).then(resolve, reject);
      response.destroy();
      resolve(null);
    });
    request.on('error', reject);
  });
}
