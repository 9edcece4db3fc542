import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { ChatRequest, StrictServer } from './chat-request.ts';
import type { ModelFault } from './model-fault.ts';
import { handleModelRequest } from './model-server.ts';
import { echo, type Reply, type ReplyScript } from './scripted-reply.ts';

/** How a double is started. */
export interface ModelDoubleOptions {
  /** A free port when absent. */
  readonly port?: number;
  /** Wait before the first byte of each answer, in ms. */
  readonly latencyMs?: number;
  /** Wait between two pieces of an answer, in ms. */
  readonly pieceMs?: number;
  /** What to say; `You said: …` when absent. */
  readonly reply?: ReplyScript;
  /** Names in `/v1/models`; `double` when absent. */
  readonly models?: readonly string[];
  /** Requests without this key are refused with 401. */
  readonly apiKey?: string;
}

/** One request that arrived, also when it was then refused or failed on purpose. */
export interface RecordedRequest {
  /** Counts from 1 since the start. */
  readonly seq: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ChatRequest;
}

/** One recording that was sent to be transcribed. */
export interface HeardSpeech {
  readonly model: string;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

/** One text that was sent to be spoken. */
export interface SpokenSpeech {
  readonly model: string;
  readonly voice: string;
  readonly input: string;
  readonly response_format: string;
}

/** How many requests are remembered; a load of thousands keeps the newest ones. */
const REMEMBERED = 2_000;

/** An OpenAI-compatible server on loopback that says what a test wants and remembers what it was asked. */
export class ModelDouble {
  /** For the settings: ends in `/v1`. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly apiKey: string | undefined;
  latencyMs: number;
  pieceMs: number;
  /** Like many small local models: a request with tools is refused. */
  refusesTools = false;
  /** Refuses a user message behind results of tools, as that server does. */
  strictAs: StrictServer | null = null;
  /** What is said in every recording. */
  speech = 'words that were spoken';
  /** The recordings that came, oldest first. */
  readonly heard: HeardSpeech[] = [];
  /** The recording of every text that is to be spoken; null: the service is out of order. */
  voice: Uint8Array | null = Uint8Array.from(Buffer.from('OggS and a voice'));
  /** The texts that were to be spoken, oldest first. */
  readonly spoken: SpokenSpeech[] = [];
  readonly #server: Server;
  #script: ReplyScript;
  #queue: Reply[] = [];
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
    this.#script = options.reply ?? echo;
  }

  /** The requests since the start or the last `forget`, oldest first; at most 2,000. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** All requests that ever came. */
  get total(): number {
    return this.#total;
  }

  /** Requests that have no complete answer yet. */
  get open(): number {
    return this.#open;
  }

  /** From now on `script` decides, once the queue is empty. */
  reply(script: ReplyScript): void {
    this.#script = script;
  }

  /** The next requests get these answers, one each. */
  queue(...replies: readonly Reply[]): void {
    this.#queue.push(...replies);
  }

  /**
   * The next streamed answer with this in a piece goes no further behind it until the returned function is called, or its
   * reader has gone: whatever happens in the middle of an answer then does, however slow the machine is.
   */
  pauseBehind(text: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pause = { text, ended: promise };
    return resolve;
  }

  /** Null where an answer goes on behind this piece at once. */
  pauseOf(piece: string): Promise<void> | null {
    const pause = this.#pause;
    if (pause === null || !piece.includes(pause.text)) return null;
    this.#pause = null;
    return pause.ended;
  }

  /** The next `times` requests fail so; `Infinity` until `clearFaults`. Faults wait in line. */
  fault(fault: ModelFault, times = 1): void {
    this.#faults.push({ fault, left: times });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  forget(): void {
    this.#requests = [];
  }

  /** Ends all connections, also hanging ones. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Remembers a request; the returned function says that its answer has ended. For the server. */
  record(headers: RecordedRequest['headers'], body: ChatRequest): () => void {
    this.#total += 1;
    this.#open += 1;
    this.#requests.push({ seq: this.#total, headers, body });
    if (this.#requests.length > REMEMBERED) this.#requests = this.#requests.slice(REMEMBERED / 2);
    return () => {
      this.#open -= 1;
    };
  }

  /** The reply to this request, taken from the queue first. For the server. */
  async nextReply(request: ChatRequest): Promise<Reply> {
    return this.#queue.shift() ?? this.#script(request);
  }

  /** The fault that meets this request. For the server. */
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
