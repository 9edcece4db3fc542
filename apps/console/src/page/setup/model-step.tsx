import type { SetupState } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton } from '../ui/widgets.tsx';
import { AnswerNote, Chooser, Field, Step, useStep } from './step.tsx';

/** More of a list are only in the suggestions of the field. */
const NAMED_MODELS = 8;
const NOTHING = { baseUrl: '', apiKey: '', model: '' };

/** The model: a server that was found, or a service, whose key is tried before it is saved. */
export function ModelStep({ model, isOffline, providers }: SetupState): VNode {
  const [name, setName] = useState('');
  const chosen = providers.find((one) => one.name === name) ?? providers[0];
  const [typed, setTyped] = useState(NOTHING);
  const { answer, isBusy, take, forget } = useStep();
  const type = (change: Partial<typeof typed>): void => setTyped({ ...typed, ...change });
  const baseUrl = typed.baseUrl || chosen?.baseUrl || '';
  const wanted = typed.model || chosen?.model || '';
  const takeAs = (name: 'setup/try-model' | 'setup/save-model'): void => {
    if (chosen === undefined) return;
    const { provider } = chosen;
    void take(name, {
      provider,
      ...(baseUrl !== '' && { baseUrl }),
      ...(typed.apiKey !== '' && { apiKey: typed.apiKey }),
      ...(wanted !== '' && { model: wanted }),
    });
  };
  const models = answer && answer.kind !== 'done' ? (answer.models ?? []) : [];
  return (
    <Step title="1. The model it thinks with" done={isOffline ? null : `In use: ${model}`}>
      <Chooser
        label="Provider"
        options={providers.map((one) => [one.name, one.name])}
        value={chosen?.name ?? ''}
        onChoose={(next) => {
          setName(next);
          forget();
          setTyped(NOTHING);
        }}
      />
      <p class="facts">{chosen?.needs}</p>
      {chosen?.hasAddress && (
        <Field label="Address" value={baseUrl} onInput={(value) => type({ baseUrl: value })} />
      )}
      {chosen?.hasKey && (
        <Field
          label="Key"
          value={typed.apiKey}
          isSecret
          onInput={(value) => type({ apiKey: value })}
        />
      )}
      <Field
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
    </Step>
  );
}
