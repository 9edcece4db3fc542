import type { SetupProvider, SetupState } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from '../ui/widgets.tsx';
import {
  AnswerNote,
  OptionChooser,
  SetupField,
  SetupStep,
  type StepPlace,
  useStep,
} from './step.tsx';

/** How many models are listed by name; all others are only suggestions in the field. */
const NAMED_MODELS = 8;
const NOTHING = { baseUrl: '', apiKey: '', model: '' };

interface ModelProps {
  readonly state: SetupState;
  readonly place: StepPlace;
  readonly onSaved: () => void;
}

/**
 * Selects the model: a server found on this machine, or a service whose key is tested before it is
 * saved.
 */
export function ModelStep({ state, place, onSaved }: ModelProps): VNode {
  const { model, isOffline, providers } = state;
  const [name, setName] = useState<string | null>(null);
  const found = providers.filter((one) => one.model !== undefined);
  const chosen = providers.find((one) => one.name === name) ?? providers[0];
  const [typed, setTyped] = useState(NOTHING);
  const { answer, isBusy, take, forget } = useStep(() => {
    setTyped(NOTHING);
    onSaved();
  });
  const chooseProvider = (next: string): void => {
    setName(next);
    forget();
    setTyped(NOTHING);
  };
  const type = (change: Partial<typeof typed>): void => setTyped({ ...typed, ...change });
  const baseUrl = typed.baseUrl || chosen?.baseUrl || '';
  const wanted = typed.model || chosen?.model || '';
  const takeAs = (step: 'setup/try-model' | 'setup/save-model'): void => {
    if (chosen === undefined) return;
    const { provider } = chosen;
    void take(step, {
      provider,
      ...(baseUrl !== '' && { baseUrl }),
      ...(typed.apiKey !== '' && { apiKey: typed.apiKey }),
      ...(wanted !== '' && { model: wanted }),
    });
  };
  const models = answer && answer.kind !== 'done' ? (answer.models ?? []) : [];
  return (
    <SetupStep place={place} title="Connect a model" done={isOffline ? null : `In use: ${model}`}>
      {found.length > 1 && (
        <FoundServers found={found} chosen={chosen?.name} onChoose={chooseProvider} />
      )}
      <OptionChooser
        label="Provider"
        options={providers.map((one) => [one.name, one.name])}
        value={chosen?.name ?? ''}
        onChoose={chooseProvider}
      />
      <p class="facts">{chosen?.needs}</p>
      {chosen?.hasAddress && (
        <SetupField label="Address" value={baseUrl} onInput={(value) => type({ baseUrl: value })} />
      )}
      {chosen?.hasKey && (
        <SetupField
          label="Key"
          value={typed.apiKey}
          isSecret
          onInput={(value) => type({ apiKey: value })}
        />
      )}
      <SetupField
        label="Model"
        value={wanted}
        options={models}
        onInput={(value) => type({ model: value })}
      />
      {models.length > 0 && (
        <p class="facts">
          It offers {models.slice(0, NAMED_MODELS).join(', ')}
          {models.length > NAMED_MODELS ? ` and ${models.length - NAMED_MODELS} more` : ''}.
        </p>
      )}
      <AnswerNote answer={answer} />
      <div class="actions">
        <ActionButton label="Try it" isBusy={isBusy} onPress={() => takeAs('setup/try-model')} />
        <ActionButton
          label="Use this model"
          look="is-main"
          isBusy={isBusy || wanted === ''}
          onPress={() => takeAs('setup/save-model')}
        />
      </div>
    </SetupStep>
  );
}

interface FoundProps {
  readonly found: readonly SetupProvider[];
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

/** Model servers found on this machine, each selectable with one click. */
function FoundServers({ found, chosen, onChoose }: FoundProps): VNode {
  return (
    <div class="actions" role="group" aria-label="Servers on this machine">
      {found.map(({ name, model }) => (
        <button
          key={name}
          type="button"
          class="action"
          aria-pressed={name === chosen}
          onClick={() => onChoose(name)}
        >
          {name.replace(', found at', ' at')}: {model}
        </button>
      ))}
    </div>
  );
}
