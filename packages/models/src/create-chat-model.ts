import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Logger } from '@parley/contracts';
import { autoModel } from './auto-model.ts';
import type { ChatModel } from './chat-model.ts';
import { detectLocalServer, type LocalServer } from './detect-local-server.ts';
import { fallbackModel } from './fallback-model.ts';
import { httpFetch } from './http-fetch.ts';
import type { ModelSettings, ProviderChoice } from './model-settings.ts';
import { type OfflineReason, whyOffline } from './offline-answer.ts';
import { offlineModel } from './offline-model.ts';
import { providerModel } from './provider-model.ts';
import { retryingModel } from './retrying-model.ts';
import { seeingModel } from './seeing-model.ts';
import { toolLessModel } from './tool-less-model.ts';

/** What models need from outside; only the first three must be given. */
export interface ChatModelDeps {
  /** Path of the settings file, named by the offline model. */
  readonly settingsFile: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** IANA name for the offline model's clock; UTC when absent. */
  readonly timeZone?: string;
  /** The variable OLLAMA_HOST, where set. */
  readonly ollamaHost?: string;
  /** `httpFetch` when absent. */
  readonly fetch?: typeof globalThis.fetch;
  /** Where to look for local servers instead of the usual ports, as base URLs. */
  readonly localServers?: readonly string[];
}

/** The model to use. `why` says for the start banner which one answers and for what reason; it never rejects. */
export interface ChosenModel {
  readonly model: ChatModel;
  readonly why: Promise<string>;
}

/**
 * Makes the model the settings ask for. Returns at once and loads no provider: with `auto` the search
 * for a local server runs meanwhile, and the first call waits for it. A paid provider is used only when
 * it is written down, never because a key lies in the environment.
 */
export function createChatModel(settings: ModelSettings, deps: ChatModelDeps): ChosenModel {
  if (settings.model === 'auto') return chooseAutomatically(settings, deps);
  if (settings.model === 'offline') {
    const why = Promise.resolve(`offline: ${whyOffline('by-choice')}`);
    return { model: offline(deps, 'by-choice'), why };
  }
  const first = provider(settings.model, settings, deps);
  const said = `${first.id} at ${serverOf(settings.model)}, as configured`;
  if (settings.fallback.length === 0) return { model: first, why: Promise.resolve(said) };
  const others = settings.fallback.map((choice) =>
    choice === 'offline' ? offline(deps, 'all-failed') : provider(choice, settings, deps),
  );
  const names = others.map((other) => other.id).join(', ');
  return {
    model: fallbackModel(first, others, deps.logger),
    why: Promise.resolve(`${said}; when it fails: ${names}`),
  };
}

function chooseAutomatically(settings: ModelSettings, deps: ChatModelDeps): ChosenModel {
  const { model, first } = autoModel({
    clock: deps.clock,
    offline: offline(deps, 'nothing-found'),
    local: (server) => local(server, settings, deps),
    detect: () =>
      detectLocalServer({
        ollamaHost: deps.ollamaHost,
        ...(deps.localServers !== undefined && { candidates: deps.localServers }),
      }),
  });
  const why = first.then((server) =>
    server === null
      ? `offline: ${whyOffline('nothing-found')}`
      : `local/${server.model}: found at ${new URL(server.baseUrl).host}, and no other model is configured`,
  );
  return { model, why };
}

function provider(choice: ProviderChoice, settings: ModelSettings, deps: ChatModelDeps): ChatModel {
  return build(`${choice.provider}/${choice.model}`, choice, settings, deps);
}

function local(server: LocalServer, settings: ModelSettings, deps: ChatModelDeps): ChatModel {
  const free = { inputPerMillion: 0, outputPerMillion: 0 };
  const choice = { provider: 'openai-compatible', ...server, price: free } as const;
  return build(`local/${server.model}`, choice, settings, deps);
}

function build(
  id: string,
  choice: ProviderChoice,
  settings: ModelSettings,
  deps: ChatModelDeps,
): ChatModel {
  const init = { id, server: serverOf(choice), choice, timeouts: settings.timeouts };
  const fetch = deps.fetch ?? httpFetch;
  const model = retryingModel(providerModel(init, { clock: deps.clock, fetch }), sleep);
  return seeingModel(toolLessModel(model), choice.vision);
}

function offline(deps: ChatModelDeps, reason: OfflineReason): ChatModel {
  return offlineModel({
    reason,
    settingsFile: deps.settingsFile,
    timeZone: deps.timeZone ?? 'UTC',
    clock: deps.clock,
  });
}

/** Host and port only: a base URL may carry a password. */
function serverOf(choice: ProviderChoice): string {
  if (choice.baseUrl !== undefined) return new URL(choice.baseUrl).host;
  return choice.provider === 'anthropic' ? 'api.anthropic.com' : 'api.openai.com';
}

/** An aborted wait simply ends; the call that follows sees the same signal and says so. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
