import type { SetupProvider, SetupState } from '@parley/gateway/api';
import type { InputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from '../ui/widgets.tsx';
import {
  findAnswerFor,
  hasSameValues,
  OptionChooser,
  SetupField,
  SetupResultNote,
  SetupStep,
  type StepPosition,
  useStep,
} from './step.tsx';

type ModelMethod = 'setup/try-model' | 'setup/save-model';

/** How many models are listed by name; all other models are only suggestions in the field. */
const NAMED_MODELS = 8;
const NOTHING = { baseUrl: '', apiKey: '', model: '' };

interface ModelProps {
  readonly state: SetupState;
  readonly place: StepPosition;
  readonly onSaved: () => void;
}

/** The chosen provider and the typed values, as sent to the gateway. */
function useModelInput(providers: readonly SetupProvider[]) {
  const [name, setName] = useState<string | null>(null);
  const [typed, setTyped] = useState(NOTHING);
  const chosen = providers.find((one) => one.name === name) ?? providers[0];
  const choose = (next: string | null): void => {
    setName(next);
    setTyped(NOTHING);
  };
  const type = (change: Partial<typeof typed>): void => {
    // Until a person chooses a provider, another server found on this machine may become the first
    // one.
    setName(chosen?.name ?? null);
    setTyped({ ...typed, ...change });
  };
  const baseUrl = typed.baseUrl || chosen?.baseUrl || '';
  const wanted = typed.model || chosen?.model || '';
  const server = {
    provider: chosen?.provider ?? 'openai-compatible',
    ...(baseUrl !== '' && { baseUrl }),
    ...(typed.apiKey !== '' && { apiKey: typed.apiKey }),
  };
  const input = { ...server, ...(wanted !== '' && { model: wanted }) };
  return { chosen, choose, type, server, input };
}

/**
 * Selects the model: a server found on this machine, or a service whose key is tested before it is
 * saved.
 */
export function ModelStep({ state, place, onSaved }: ModelProps): VNode {
  const { model, isOffline, providers } = state;
  const found = providers.filter((one) => one.model !== undefined);
  const { chosen, choose, type, server, input } = useModelInput(providers);
  const { answered, isBusy, isSaving, take } = useStep<ModelMethod>(() => {
    choose(chosen?.name ?? null);
    onSaved();
  });
  const takeAs = (method: ModelMethod): void => {
    if (chosen !== undefined) void take({ method, input });
  };
  const models = listOfferedModels(answered, server);
  return (
    <SetupStep
      place={place}
      title="Connect a model"
      done={isOffline ? null : `In use: ${model}`}
      isSaving={isSaving}
    >
      {found.length > 1 && (
        <FoundServers found={found} chosen={chosen?.name} isBusy={isBusy} onChoose={choose} />
      )}
      <OptionChooser
        label="Provider"
        options={providers.map((one) => [one.name, one.name])}
        value={chosen?.name ?? ''}
        isBusy={isBusy}
        onChoose={choose}
      />
      <p class="facts">{chosen?.needs}</p>
      {chosen?.hasAddress && (
        <SetupField
          label="Address"
          value={input.baseUrl ?? ''}
          onInput={(value) => type({ baseUrl: value })}
        />
      )}
      {chosen?.hasKey && (
        <SetupField
          label="Key"
          value={input.apiKey ?? ''}
          isSecret
          onInput={(value) => type({ apiKey: value })}
        />
      )}
      <SetupField
        label="Model"
        value={input.model ?? ''}
        options={models}
        onInput={(value) => type({ model: value })}
      />
      {models.length > 0 && (
        <p class="facts">
          It offers {models.slice(0, NAMED_MODELS).join(', ')}
          {models.length > NAMED_MODELS ? ` and ${models.length - NAMED_MODELS} more` : ''}.
        </p>
      )}
      <SetupResultNote answer={findAnswerFor(answered, input)} />
      <div class="actions">
        <ActionButton label="Try it" isBusy={isBusy} onPress={() => takeAs('setup/try-model')} />
        <ActionButton
          label="Use this model"
          look="is-main"
          isBusy={isBusy || input.model === undefined}
          onPress={() => takeAs('setup/save-model')}
        />
      </div>
    </SetupStep>
  );
}

/** The models that any of the queried servers has offered. */
function listOfferedModels(
  answered: ReturnType<typeof useStep<ModelMethod>>['answered'],
  server: Omit<InputOf<ModelMethod>, 'model'>,
): readonly string[] {
  if (answered === null || answered.answer.kind === 'done') return [];
  const { model: _any, ...asked } = answered.question.input;
  return hasSameValues(asked, server) ? (answered.answer.models ?? []) : [];
}

interface FoundProps {
  readonly found: readonly SetupProvider[];
  readonly chosen: string | undefined;
  readonly isBusy: boolean;
  readonly onChoose: (name: string) => void;
}

/** Model servers found on this machine, each selectable with one click. */
function FoundServers({ found, chosen, isBusy, onChoose }: FoundProps): VNode {
  return (
    <div class="actions" role="group" aria-label="Servers on this machine">
      {found.map(({ name, model }) => (
        <button
          key={name}
          type="button"
          class="action"
          aria-pressed={name === chosen}
          disabled={isBusy}
          onClick={() => onChoose(name)}
        >
          {name.replace(', found at', ' at')}: {model}
        </button>
      ))}
    </div>
  );
}
