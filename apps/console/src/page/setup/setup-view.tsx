import type { SetupState } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { ColumnView } from '../ui/frames.tsx';
import { ActionButton, DataContent, List } from '../ui/widgets.tsx';
import { type AccountSummaries, ChannelStep } from './channel-step.tsx';
import { ModelStep } from './model-step.tsx';
import { SetupResultNote, SetupStep, type StepPosition, useStep } from './step.tsx';

/** How often (ms) the page checks whether a step's settings are in use. */
const POLL_INTERVAL_MS = 3_000;

/** The setup, which leads to a working bot: a model, a channel, and an owner (U02). */
export function SetupView(): VNode {
  const setup = useOperation('setup/state', {}, POLL_INTERVAL_MS);
  const report = useOperation('channels/report', {}, POLL_INTERVAL_MS).value;
  return (
    <ColumnView name="setup-view" title="Set up">
      <DataContent data={setup}>
        {(state) => (
          <SetupSteps state={state} accounts={listPlatformAccounts(report?.accounts ?? [])} />
        )}
      </DataContent>
    </ColumnView>
  );
}

/** The accounts on messaging platforms, because the page and the terminal do not need setup. */
function listPlatformAccounts(accounts: AccountSummaries): AccountSummaries {
  return accounts.filter(({ channel }) => channel !== 'web' && channel !== 'terminal');
}

interface StepsProps {
  readonly state: SetupState;
  readonly accounts: AccountSummaries;
}

/** The first unfinished step is open unless a person has opened another one. */
function SetupSteps({ state, accounts }: StepsProps): VNode {
  const [chosen, choose] = useState<number | null>(null);
  const isDone = [
    !state.isOffline,
    accounts.some(({ state: { kind } }) => kind === 'connected' || kind === 'standby'),
    state.owners.length > 0,
  ];
  const next = isDone.indexOf(false) + 1;
  const open = chosen ?? next;
  const goOn = (): void => choose(null);
  const placeOf = (number: number): StepPosition => ({
    ...{ number, isOpen: open === number },
    onToggle: () => choose(open === number ? null : number),
  });
  return (
    <>
      <p>
        {next === 0
          ? 'Everything is set up. Write to your bot, or here: '
          : 'Three optional steps. The chat already works: '}
        <a href={toHref('chat')}>write to the agent</a>.
      </p>
      <ModelStep state={state} place={placeOf(1)} onSaved={goOn} />
      <ChannelStep state={state} accounts={accounts} place={placeOf(2)} onSaved={goOn} />
      <OwnerStep {...state} place={placeOf(3)} onSaved={goOn} />
    </>
  );
}

interface OwnerProps extends Pick<SetupState, 'owners' | 'waiting'> {
  readonly place: StepPosition;
  readonly onSaved: () => void;
}

/** Sets the owner: a person who has written to the bot clicks one button. */
function OwnerStep({ owners, waiting, place, onSaved }: OwnerProps): VNode {
  const { answered, isBusy, isSaving, take } = useStep<'setup/add-owner'>(onSaved);
  const done = owners.length === 0 ? null : `Owned by ${owners.join(', ')}`;
  return (
    <SetupStep place={place} title="Make it yours" done={done} isSaving={isSaving}>
      <p>
        Write anything to your bot from your own account. You will appear here within seconds. Click
        &ldquo;That's me&rdquo; to become the owner. Check the name first: owners can do everything.
      </p>
      {waiting.length === 0 && <p class="facts">Waiting for a message …</p>}
      <List look="cards" of={waiting}>
        {({ person, name, channel }) => (
          <div key={person} class="actions">
            <span>
              <b>{name}</b> on {channel} ({person})
            </span>
            <ActionButton
              label="That's me"
              look="is-main"
              name={`${name} on ${channel}: that's me`}
              isBusy={isBusy}
              onPress={() => void take({ method: 'setup/add-owner', input: { person } })}
            />
          </div>
        )}
      </List>
      <SetupResultNote answer={answered?.answer} />
    </SetupStep>
  );
}
