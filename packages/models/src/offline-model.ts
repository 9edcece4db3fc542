import { json } from 'node:stream/consumers';
import type { Clock } from '@parley/core';
import { z } from 'zod';
import {
  type ChatModel,
  countUsage,
  ModelError,
  type ModelEvent,
  type ModelRequest,
} from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';

interface OfflineDeps {
  readonly reason: OfflineReason;
  readonly settingsFile: string;
  readonly timeZone: string;
  readonly clock: Clock;
}

/** The id of the model that answers if none is configured or found. */
export const OFFLINE_MODEL = 'parley/offline';
/**
 * The only tool that the offline model uses, which shows in a fresh installation that tools work
 * before any model is connected.
 */
const TIME_TOOL = 'current_time';
const NOTHING_REPORTED = {
  inputTokens: { total: undefined, cacheRead: undefined },
  outputTokens: { total: undefined },
};

/**
 * The model that answers if an installation has no other model: it states that no model is
 * connected and explains how to connect one. It needs neither network nor any provider package,
 * costs nothing, and is used like every other model.
 */
export function createOfflineChatModel(deps: OfflineDeps): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const asked = request.messages.findLast((message) => message.role === 'user');
    const question = asked?.said ?? asked?.content ?? '';
    throwIfStopped(signal);
    if (findPlainQuestion(question) === 'time' && canAskForTime(request)) {
      yield { type: 'tool-call', call: { id: 'offline_time', name: TIME_TOOL, arguments: '{}' } };
      yield createFinishEvent(request, '', 'tool-calls');
      return;
    }
    const result = request.messages.findLast((message) => message.role === 'tool');
    const toolTime =
      result?.name === TIME_TOOL && result.failed !== true ? result.content : undefined;
    const text = writeOfflineAnswer(question, {
      ...(toolTime !== undefined && { toolTime }),
      attached: asked?.attached ?? [],
      reason: deps.reason,
      settingsFile: deps.settingsFile,
      timeZone: deps.timeZone,
      now: deps.clock(),
    });
    for (const piece of text.split(/(?<=\n\n)/)) {
      throwIfStopped(signal);
      yield { type: 'text', text: piece };
    }
    throwIfStopped(signal);
    yield createFinishEvent(request, text, 'stop');
  }
  return { id: OFFLINE_MODEL, stream };
}

/** Whether the clock tool is offered and this turn has not called it yet. */
function canAskForTime({ tools = [], messages }: ModelRequest): boolean {
  return tools.some(({ name }) => name === TIME_TOOL) && messages.at(-1)?.role === 'user';
}

function createFinishEvent(request: ModelRequest, text: string, finishReason: string): ModelEvent {
  const usage = countUsage(NOTHING_REPORTED, request, text.length);
  return { type: 'finish', text, usage, finishReason, model: OFFLINE_MODEL, costUsd: 0 };
}

function throwIfStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const failure = { kind: 'aborted' } as const;
  throw new ModelError(
    failure,
    OFFLINE_MODEL,
    explainFailure(failure, { id: OFFLINE_MODEL, server: 'Parley' }, ''),
  );
}

/** Why the offline model answers. */
export type OfflineReason = 'nothing-found' | 'by-choice' | 'all-failed';

/** The facts for an answer from the offline model. */
interface OfflineAnswerContext {
  readonly reason: OfflineReason;
  /** The names of the message's attachments. */
  readonly attached: readonly string[];
  /** The path of the settings file, as displayed to people. */
  readonly settingsFile: string;
  /** The current time, in ms since 1970. */
  readonly now: number;
  /** An IANA time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** The result of the clock tool, if it was called. */
  readonly toolTime?: string;
}

/** The maximum length of a message that is matched against the plain questions, in characters. */
const MAX_QUESTION = 80;
const HELP = /\bhelp\b|\bhilfe\b|what can you do|was kannst du|帮助|你会什么/i;
const STATUS =
  /\bstatus\b|\bping\b|which model|welches modell|are you (there|online)|状态|哪个模型/i;
const TIME =
  /what.{0,12}\btime\b|\btime is it\b|^\W*time\W*$|\bwhat.{0,8}\bdate\b|wie spät|wieviel uhr|uhrzeit|几点|时间/i;

/** The answer never pretends that the message was understood. */
function writeOfflineAnswer(text: string, facts: OfflineAnswerContext): string {
  switch (findPlainQuestion(text)) {
    case 'time':
      return `${facts.toolTime ?? `It is ${formatLocalTime(facts)}.`}\n\nThat is one of the few things I know by myself: ${describeNotConnected(facts)}`;
    case 'status':
      return `I am running and your message reached me. ${capitalize(describeNotConnected(facts))}\n\n${describeHowToConnect(facts)}`;
    case 'help':
      return `${HELP_TEXT}\n\nFor everything else I need a language model, and ${describeNotConnected(facts)}\n\n${describeHowToConnect(facts)}`;
    case null:
      return `Your message arrived${describeAttachments(facts)}, but I cannot answer it: ${describeNotConnected(facts)}\n\n${describeHowToConnect(facts)}`;
  }
}

const START_ONE =
  'Or start a local server such as Ollama or LM Studio; it is found within half a minute.';

const HELP_TEXT = [
  'By myself I can',
  '',
  '- say this text: `help`',
  '- say whether I am running: `status`',
  '- tell the time: `time`',
].join('\n');

/** Returns which of the fixed questions a message asks, if any. */
function findPlainQuestion(text: string): 'help' | 'status' | 'time' | null {
  const question = text.trim();
  if (question.length > MAX_QUESTION) return null;
  if (TIME.test(question)) return 'time';
  if (STATUS.test(question)) return 'status';
  return HELP.test(question) ? 'help' : null;
}

/** Explains in a clause why no model answers; the start banner uses it as well. */
export function describeOfflineReason(reason: OfflineReason): string {
  switch (reason) {
    case 'nothing-found':
      return `no model is configured and no local server answered on the ports ${LOCAL_PORTS.join(', ')}`;
    case 'by-choice':
      return 'the settings ask for the offline model';
    case 'all-failed':
      return 'none of the configured models could answer';
  }
}

function describeNotConnected(facts: OfflineAnswerContext): string {
  return `no language model is connected (${describeOfflineReason(facts.reason)}).`;
}

function describeHowToConnect({ settingsFile, reason }: OfflineAnswerContext): string {
  if (reason === 'all-failed') {
    return `Try again later, or look at the \`model\` section in \`${settingsFile}\`.`;
  }
  const snippet = [
    `To connect one, open *Set up* on Parley’s page, or put this into \`${settingsFile}\`:`,
    '',
    '```yaml',
    'model:',
    '  provider: openai-compatible # or anthropic, openai',
    '  baseUrl: http://127.0.0.1:11434/v1',
    '  model: llama3.2',
    '```',
  ].join('\n');
  return reason === 'nothing-found' ? `${snippet}\n\n${START_ONE}` : snippet;
}

function formatLocalTime({ now, timeZone }: OfflineAnswerContext): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone,
  });
  return `${format.format(now)} (${timeZone})`;
}

/** The maximum number of attachments that are named; a message may have 32 files. */
const NAMED = 5;

function describeAttachments({ attached }: OfflineAnswerContext): string {
  if (attached.length === 0) return '';
  const more = attached.length > NAMED ? [`${attached.length - NAMED} more`] : [];
  const names = [...attached.slice(0, NAMED), ...more];
  return ` with ${new Intl.ListFormat('en').format(names)}`;
}

function capitalize(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** A local server that can answer, and the model to request from it. */
export interface LocalServer {
  readonly baseUrl: string;
  readonly model: string;
}

/** Reads the JSON that a server returns to GET; null if the status is not 200. */
type FetchJson = (url: string, signal: AbortSignal) => Promise<unknown>;

/** The addresses to probe, and the functions used for probing. */
interface DetectDeps {
  readonly readJson?: FetchJson;
  /** The value of the environment variable OLLAMA_HOST, if set. */
  readonly ollamaHost: string | undefined;
  /** Base URLs to probe instead of the usual URLs. */
  readonly candidates?: readonly string[];
}

/** How long a local server may take to list its models, in ms. */
const DETECT_MS = 400;

/** Returns the best server that `detectLocalServers` finds. */
export async function detectLocalServer(deps: DetectDeps): Promise<LocalServer | null> {
  const [best = null] = await detectLocalServers(deps);
  return best;
}

/**
 * Probes all candidates concurrently; returns those that list a chat model, best first. Never
 * throws.
 */
export async function detectLocalServers(deps: DetectDeps): Promise<readonly LocalServer[]> {
  const candidates = deps.candidates ?? listLocalCandidates(deps.ollamaHost);
  const readJson = deps.readJson ?? fetchJsonOverHttp;
  const found = await Promise.all(candidates.map((baseUrl) => probeLocalServer(baseUrl, readJson)));
  return found.filter((server) => server !== null);
}

async function probeLocalServer(baseUrl: string, readJson: FetchJson): Promise<LocalServer | null> {
  try {
    const model = pickChatModel(
      await readJson(`${baseUrl}/models`, AbortSignal.timeout(DETECT_MS)),
    );
    return model === null ? null : { baseUrl, model };
  } catch {
    // No server responds, or something other than a model server does; both mean that no model
    // server runs at this address.
    return null;
  }
}

/**
 * Avoids `fetch`, whose first call costs a process 16 MB although most processes find no server.
 */
function fetchJsonOverHttp(url: string, signal: AbortSignal): Promise<unknown> {
  // Static imports would load Node's `fetch`.
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

/** Local model servers and their default ports, best first. */
const USUAL_SERVERS = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vLLM', port: 8000 },
  { name: 'Jan', port: 1337 },
] as const;
const LOCAL_PORTS = USUAL_SERVERS.map(({ port }) => port);

/**
 * Names the server that usually listens on the port in this base URL; another program may be using
 * the port.
 */
export function findUsualServer(baseUrl: string): string | undefined {
  return USUAL_SERVERS.find(({ port }) => String(port) === new URL(baseUrl).port)?.name;
}
const OLLAMA_PORT = 11434;

/** Models that cannot chat, recognized by their usual names. */
const NOT_FOR_CHAT =
  /embed|(^|[/_-])(bge|gte|e5|minilm|clip|whisper|tts)([._-]|$)|rerank|stable-diffusion|flux/i;

const ModelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })).max(10_000) });

/**
 * The base URLs to probe for a local server, ending in `/v1`, best first. `ollamaHost` is the
 * variable OLLAMA_HOST: `host`, `host:port`, `:port` or a URL. An invalid value is ignored.
 */
export function listLocalCandidates(ollamaHost: string | undefined): string[] {
  const usual = LOCAL_PORTS.map((port) => `http://127.0.0.1:${port}/v1`);
  const named = toOllamaBaseUrl(ollamaHost?.trim() ?? '');
  return named === null ? usual : [named, ...usual.filter((url) => url !== named)];
}

/**
 * Returns the first model in a `/v1/models` response that can chat; null if there is none or the
 * response has another form.
 */
export function pickChatModel(answer: unknown): string | null {
  const list = ModelList.safeParse(answer);
  if (!list.success) return null;
  return list.data.data.find((model) => !NOT_FOR_CHAT.test(model.id))?.id ?? null;
}

function toOllamaBaseUrl(host: string): string | null {
  if (host === '') return null;
  const withHost = host.startsWith(':') ? `127.0.0.1${host}` : host;
  const text = /^https?:\/\//.test(withHost) ? withHost : `http://${withHost}`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  // A server that listens on all addresses can be reached on this machine.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const port =
    url.port || (url.protocol === 'https:' || hasPort(withHost) ? '' : String(OLLAMA_PORT));
  return `${url.protocol}//${url.hostname}${port === '' ? '' : `:${port}`}/v1`;
}

/** `URL` drops port 80 for `http`, although it may have been written on purpose. */
function hasPort(host: string): boolean {
  return /:\d+\/?$/.test(host);
}
