import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { ChatRequest, StrictServer } from './chat-request.ts';
import type { ModelFault } from './model-fault.ts';
import { handleModelRequest } from './model-server.ts';
import { echoLastText, type ReplyScript, type ScriptedReply } from './scripted-reply.ts';

/** The options of a double; all of them have defaults. */
export interface ModelDoubleOptions {
  /** A free port when absent. */
  readonly port?: number;
  /** Delay before the first byte of each answer, in ms. */
  readonly latencyMs?: number;
  /** Delay between two pieces of an answer, in ms. */
  readonly pieceMs?: number;
  /** The text of the answer; `You said: …` by default. */
  readonly reply?: ReplyScript;
  /** Names in `/v1/models`; `double` when absent. */
  readonly models?: readonly string[];
  /** Requests without this key are refused with 401. */
  readonly apiKey?: string;
}

/** A received request. Requests that were refused or deliberately failed are recorded too. */
export interface RecordedRequest {
  /** Counts from 1 since startup. */
  readonly seq: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ChatRequest;
}

/** One recording sent for transcription. */
export interface HeardSpeech {
  readonly model: string;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

/** One text sent for speech synthesis. */
export interface SpokenSpeech {
  readonly model: string;
  readonly voice: string;
  readonly input: string;
  readonly response_format: string;
}

/** How many requests are remembered; under a load of thousands only the newest ones are kept. */
const REMEMBERED = 2_000;

/** An OpenAI-compatible server on loopback that gives scripted answers and records its requests. */
export class ModelDouble {
  /** For the settings: ends in `/v1`. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly apiKey: string | undefined;
  latencyMs: number;
  pieceMs: number;
  /** Whether requests with tools are refused, as many small local models do. */
  refusesTools = false;
  /** Refuses a user message after tool results, as the named server does. */
  strictAs: StrictServer | null = null;
  /** The transcript of every recording. */
  speech = 'words that were spoken';
  /** The received recordings, oldest first. */
  readonly heard: HeardSpeech[] = [];
  /** The audio returned for every text; null when the service is out of order. */
  voice: Uint8Array | null = Uint8Array.from(Buffer.from('OggS and a voice'));
  /** The text of each speech request, oldest first. */
  readonly spoken: SpokenSpeech[] = [];
  readonly #server: Server;
  #script: ReplyScript;
  #queue: ScriptedReply[] = [];
  #faults: { fault: ModelFault; left: number }[] = [];
  #pause: { readonly text: string; readonly ended: Promise<void> } | null = null;
  #requests: RecordedRequest[] = [];
  #total = 0;
  #open = 0;

  constructor(server: Server, port: number, options: ModelDoubleOptions) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${port}/v1`;
    this.models = options.models ?? ['double'];
    this.apiKey = options.apiKey;
    this.latencyMs = options.latencyMs ?? 0;
    this.pieceMs = options.pieceMs ?? 0;
    this.#script = options.reply ?? echoLastText;
  }

  /** The requests since startup or the last `forget`, oldest first; at most 2,000. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** The number of all requests ever received. */
  get total(): number {
    return this.#total;
  }

  /** Requests whose answer is not complete yet. */
  get open(): number {
    return this.#open;
  }

  /** From now on `script` decides, once the queue is empty. */
  reply(script: ReplyScript): void {
    this.#script = script;
  }

  /** The next requests get these answers, one each. */
  queue(...replies: readonly ScriptedReply[]): void {
    this.#queue.push(...replies);
  }

  /**
   * The next streamed answer with this text in a piece pauses after that piece until the returned
   * function is called, or its reader has gone. A test can thus act in the middle of an answer,
   * however slow the machine is.
   */
  pauseBehind(text: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pause = { text, ended: promise };
    return resolve;
  }

  /** Null when an answer continues immediately after this piece. */
  pauseOf(piece: string): Promise<void> | null {
    const pause = this.#pause;
    if (pause === null || !piece.includes(pause.text)) return null;
    this.#pause = null;
    return pause.ended;
  }

  /** The next `times` requests fail this way; `Infinity` until `clearFaults`. Faults are queued. */
  fault(fault: ModelFault, times = 1): void {
    this.#faults.push({ fault, left: times });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  forget(): void {
    this.#requests = [];
  }

  /** Ends all connections, including hanging connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /**
   * Records a request; the returned function reports that its answer has ended. Called by the
   * server.
   */
  record(headers: RecordedRequest['headers'], body: ChatRequest): () => void {
    this.#total += 1;
    this.#open += 1;
    this.#requests.push({ seq: this.#total, headers, body });
    if (this.#requests.length > REMEMBERED) this.#requests = this.#requests.slice(REMEMBERED / 2);
    return () => {
      this.#open -= 1;
    };
  }

  /** The reply to this request, taken from the queue first. Called by the server. */
  async nextReply(request: ChatRequest): Promise<ScriptedReply> {
    return this.#queue.shift() ?? this.#script(request);
  }

  /** The fault that hits this request. Called by the server. */
  nextFault(): ModelFault | null {
    const next = this.#faults[0];
    if (next === undefined) return null;
    next.left -= 1;
    if (next.left <= 0) this.#faults.shift();
    return next.fault;
  }
}

/** Starts a double on 127.0.0.1. */
export async function startModelDouble(options: ModelDoubleOptions = {}): Promise<ModelDouble> {
  const server = createServer();
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  const double = new ModelDouble(server, address.port, options);
  server.on('request', (request, response) => void handleModelRequest(double, request, response));
  return double;
}
