import { type HttpCapability, readBody, type SecretDoor } from '@parley/channels';
import { type Logger, reasonOf, rejectOnAbort } from '@parley/core';
import type { Adapter } from 'chat';
import { type CurrentEvent, EventScope } from './event-scope.ts';
import type { ChatState } from './state.ts';

interface WebhookDeps {
  readonly adapter: Pick<Adapter, 'handleWebhook'>;
  readonly state: Pick<ChatState, 'apply'>;
  readonly current: CurrentEvent;
  readonly log: Logger;
  /** Called with the body of each accepted request. */
  readonly heard?: ((body: string) => void) | undefined;
}

/** The maximum size, in bytes, of an accepted request. */
const MAX_BODY_BYTES = 16 * 1_024 * 1_024;
/** The time limit (ms) for an event; platforms give up earlier and send the event again. */
const MAX_EVENT_MS = 30_000;
const NO_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Receives a platform's events. An event is acknowledged after everything in it is stored (D01).
 * Otherwise, the answer is status 503, and the platform sends the event again.
 */
export class Webhook implements HttpCapability {
  readonly open = true;
  readonly #deps: WebhookDeps;
  readonly #underWay = new Set<Promise<unknown>>();
  #isOpen = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#isOpen = true;
  }

  /** Refuses new events, and resolves once all pending events are stored. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#underWay);
  }

  async fetch(request: Request, door?: SecretDoor): Promise<Response> {
    const { method, headers, url } = request;
    let body: string | undefined;
    if (!NO_BODY.has(method)) {
      const read = await readBody(request, MAX_BODY_BYTES);
      if (read.kind !== 'text') return new Response(null, { status: 400 });
      body = read.text;
    }
    const copy = new Request(url, { method, headers, ...(body !== undefined && { body }) });
    const response = await this.deliver(copy);
    if (response.ok && body !== undefined) this.#deps.heard?.(body);
    if (response.status !== 401 && response.status !== 403) return response;
    const waitSeconds = door?.refuseWrong() ?? 0;
    if (waitSeconds === 0) return response;
    return new Response(null, { status: 429, headers: { 'retry-after': String(waitSeconds) } });
  }

  /**
   * Passes one event to the adapter. Resolves once the event is stored, or with status 503 if it
   * cannot be stored. Never rejects.
   */
  deliver(request: Request): Promise<Response> {
    if (!this.#isOpen) return Promise.resolve(new Response(null, { status: 503 }));
    const delivering = this.#deliver(request);
    this.#underWay.add(delivering);
    return delivering.finally(() => this.#underWay.delete(delivering));
  }

  async #deliver(request: Request): Promise<Response> {
    const { current, log } = this.#deps;
    const scope = new EventScope();
    try {
      const handling = current.run(scope, () => this.#handle(request, scope));
      const late = () => new Error('handling the event took too long');
      return await rejectOnAbort(handling, AbortSignal.timeout(MAX_EVENT_MS), late);
    } catch (error) {
      log.error(
        { reason: reasonOf(error) },
        'an event could not be stored; the platform will send it again',
      );
      return new Response(null, { status: 503 });
    } finally {
      scope.close();
    }
  }

  async #handle(request: Request, scope: EventScope): Promise<Response> {
    const { adapter, state } = this.#deps;
    const response = await adapter.handleWebhook(request, {
      waitUntil: (work) => scope.track(work),
    });
    await scope.settle();
    await state.apply(scope);
    return response;
  }
}
