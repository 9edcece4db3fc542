import { json } from 'node:stream/consumers';
import { z } from 'zod';

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
    // No server, or something other than a model server: both mean "not here".
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

/** Ports on which local model servers listen by default: Ollama, LM Studio, llama.cpp, vLLM, Jan. */
export const LOCAL_PORTS = [11434, 1234, 8080, 8000, 1337] as const;
const OLLAMA_PORT = 11434;

/** Models that answer no chat, by the names they usually have. */
const NOT_FOR_CHAT =
  /embed|(^|[/_-])(bge|gte|e5|minilm|clip|whisper|tts)([._-]|$)|rerank|stable-diffusion|flux/i;

const ModelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })).max(10_000) });

/**
 * Where to look for a local server, as base URLs ending in `/v1`, best first. `ollamaHost` is the
 * variable OLLAMA_HOST: `host`, `host:port`, `:port` or a URL. What cannot be read as one is left out.
 */
export function localCandidates(ollamaHost: string | undefined): string[] {
  const usual = LOCAL_PORTS.map((port) => `http://127.0.0.1:${port}/v1`);
  const named = ollamaBaseUrl(ollamaHost?.trim() ?? '');
  return named === null ? usual : [named, ...usual.filter((url) => url !== named)];
}

/** The first model of a `/v1/models` answer that can chat; null when there is none, or it is no such answer. */
export function pickChatModel(answer: unknown): string | null {
  const list = ModelList.safeParse(answer);
  if (!list.success) return null;
  return list.data.data.find((model) => !NOT_FOR_CHAT.test(model.id))?.id ?? null;
}

function ollamaBaseUrl(host: string): string | null {
  if (host === '') return null;
  const withHost = host.startsWith(':') ? `127.0.0.1${host}` : host;
  const text = /^https?:\/\//.test(withHost) ? withHost : `http://${withHost}`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  // A server that listens on every address is asked on this machine.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const port =
    url.port || (url.protocol === 'https:' || hasPort(withHost) ? '' : String(OLLAMA_PORT));
  return `${url.protocol}//${url.hostname}${port === '' ? '' : `:${port}`}/v1`;
}

/** `URL` drops the port 80 of `http`, which may be written on purpose. */
function hasPort(host: string): boolean {
  return /:\d+\/?$/.test(host);
}
