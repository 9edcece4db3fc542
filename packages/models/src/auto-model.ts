import type { Clock } from '@parley/contracts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import type { LocalServer } from './detect-local-server.ts';
import { ModelError } from './model-error.ts';
import { withSecondTry } from './second-try.ts';

/** What the automatic choice is made of. */
export interface AutoDeps {
  readonly detect: () => Promise<LocalServer | null>;
  readonly local: (server: LocalServer) => ChatModel;
  readonly offline: ChatModel;
  readonly clock: Clock;
}

/** The automatic model and its first decision. */
export interface AutoModel {
  readonly model: ChatModel;
  /** The server found at the start; never rejects. */
  readonly first: Promise<LocalServer | null>;
}

/** How often to look again while no server is there, in ms, and only when a message comes in. */
const LOOK_AGAIN_MS = 30_000;

/**
 * A local server where one runs, else the offline model. It looks at once, without delaying anybody;
 * again when a message comes while offline; and when the server it used has gone away.
 */
export function autoModel(deps: AutoDeps): AutoModel {
  let current: ChatModel = deps.offline;
  let lookedAt = deps.clock();
  let looking: Promise<LocalServer | null> | null = null;

  const look = () => {
    looking ??= deps.detect().then((server) => {
      current = server === null ? deps.offline : deps.local(server);
      lookedAt = deps.clock();
      looking = null;
      return server;
    });
    return looking;
  };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const stale = current === deps.offline && deps.clock() - lookedAt >= LOOK_AGAIN_MS;
    if (looking !== null || stale) await look();
    yield* withSecondTry(current.stream(request, signal), signal, async (failure) => {
      if (!hasGone(failure)) return null;
      await look();
      return current.stream(request, signal);
    });
  }

  const first = look();
  return {
    first,
    model: {
      get id() {
        return current.id;
      },
      stream,
    },
  };
}

/** The server does not answer any more, or no longer has the model. */
function hasGone(thrown: unknown): boolean {
  if (!(thrown instanceof ModelError)) return false;
  return thrown.failure.kind === 'unreachable' || thrown.failure.kind === 'not-found';
}
