import type { ReplayRequest } from '@parley/agent/replay';
import { openSecrets } from '@parley/core/telemetry';
import {
  type ChatModel,
  createChatModel,
  getContextTokens,
  listModelChoices,
  type ModelSettings,
} from '@parley/models';
import { getModelName } from '../../agents.ts';
import { CliError } from '../../data-folder.ts';
import { createScrubbedModel } from '../../model.ts';
import type { ChosenAgent, LoadedSettings } from '../../settings.ts';
import { createSpendingRecorder } from '../../soul.ts';
import type { ReplayChoice, ReplayDeps } from './replay-choice.ts';

type ModelOfReplay = Pick<ReplayRequest, 'model' | 'contextTokens'>;

/**
 * Returns the function that chooses the model for a turn: the one asked for, that of another
 * profile, or the one that had answered. Models have no fallback, so that the report names the
 * model that it is about, and every answer is charged to the owners (G17).
 */
export function openReplayModels(
  { name, settings }: ChosenAgent,
  {
    model: asked,
    other,
    dryRun = false,
  }: ReplayChoice & { readonly other: LoadedSettings['settings'] | undefined },
  deps: ReplayDeps,
): (recorded: string) => Promise<ModelOfReplay> {
  const opened = new Map<string, Promise<ChatModel>>();
  const own = other ?? settings;
  const named = name === undefined ? undefined : { name, ofAll: deps.loaded.settings.spend };
  const { store, clock, log } = deps;
  const spending = createSpendingRecorder(own, { store, clock, log, named, purpose: 'replay' });
  const changed =
    other !== undefined && getModelName(other) !== getModelName(settings)
      ? getModelName(other)
      : undefined;
  return async (recorded) => {
    const wanted = asked ?? changed;
    const id = wanted ?? recorded;
    const chosen = toModelSettings(own, id);
    // Another window gives the history another room, and the record no longer applies.
    const contextTokens = wanted === undefined ? undefined : getContextTokens(chosen, id);
    if (dryRun) return { model: null, contextTokens };
    const model = opened.get(id) ?? openModel(chosen, own, deps);
    opened.set(id, model);
    return { model: chargeModel(await model, spending), contextTokens };
  };
}

/**
 * The settings of a model by name: one of the configured ones, or another one of the same provider.
 */
export function toModelSettings(
  { model }: LoadedSettings['settings'],
  name: string,
): ModelSettings {
  const known = listModelChoices(model).get(name);
  if (known !== undefined) return known;
  const { model: main } = model;
  // A model that was found or is built in has no settings of its own.
  if (typeof main === 'string') return model;
  const prefix = `${main.provider}/`;
  const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const { price: _, contextTokens: _window, vision: _sight, ...provider } = main;
  return { ...model, model: { ...provider, model: own } };
}

async function openModel(
  chosen: ModelSettings,
  { agent, limits }: LoadedSettings['settings'],
  { folder, env, clock, monotonic, log, loaded }: ReplayDeps,
): Promise<ChatModel> {
  if (chosen.model === 'offline')
    throw new CliError(
      'replay-offline',
      'The settings name no model that could be asked. Name one in the section "model", or use --dry-run.',
    );
  const { model, why } = createChatModel(
    { ...chosen, fallback: [] },
    {
      settingsFile: folder.settingsFile,
      ...{ clock, monotonic, logger: log, timeZone: agent.timeZone, bounds: limits.answer },
      ...(env.OLLAMA_HOST === undefined ? {} : { ollamaHost: env.OLLAMA_HOST }),
    },
  );
  // An automatic choice is made before the first question, so that the report names the model.
  await why;
  return createScrubbedModel(model, openSecrets(loaded.secrets));
}

/** Refuses to ask beyond the caps, and charges each answer. */
function chargeModel(
  model: ChatModel,
  { mayAsk, spent }: ReturnType<typeof createSpendingRecorder>,
): ChatModel {
  return {
    get id() {
      return model.id;
    },
    async *stream(request, signal) {
      await mayAsk();
      for await (const event of model.stream(request, signal)) {
        if (event.type === 'finish') await spent({ ...event.usage, costUsd: event.costUsd });
        yield event;
      }
    },
  };
}
