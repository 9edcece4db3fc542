import type { SetupState } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { ColumnView } from '../ui/frames.tsx';
import { ActionButton, List, Show } from '../ui/widgets.tsx';
import { ChannelStep } from './channel-step.tsx';
import { ModelStep } from './model-step.tsx';
import { AnswerNote, Step, useStep } from './step.tsx';

/** The interval at which the page checks whether the settings of a step are in use, in ms. */
const POLL_INTERVAL_MS = 3_000;

/** From nothing to a bot that answers: a model, a channel, and who owns it (U02). */
export function SetupView(): VNode {
  const setup = useOperation('setup/state', {}, POLL_INTERVAL_MS);
  return (
    <ColumnView name="setup-view" title="Set up">
      <Show data={setup}>
        {(state) => (
          <>
            <p>
              Three steps, each of which can wait. The chat works already:{' '}
              <a href={hrefOf('chat')}>write to the agent</a>.
            </p>
            <ModelStep {...state} />
            <ChannelStep {...state} />
            <OwnerStep {...state} />
          </>
        )}
      </Show>
    </ColumnView>
  );
}

/** The step that names the owner: a person who has written to the bot presses one button. */
function OwnerStep({ owners, waiting }: SetupState): VNode {
  const { answer, isBusy, take } = useStep();
  const done = owners.length === 0 ? null : `Owners: ${owners.join(', ')}`;
  return (
    <Step title="3. You" done={done}>
      <p>
        Write anything to your bot from your own account. You appear here within seconds; press
        &ldquo;That is me&rdquo;, and it obeys you. Make sure that it is you: an owner may do
        everything.
      </p>
      <List look="cards" of={waiting}>
        {({ person, name, channel }) => (
          <div key={person} class="actions">
            <span>
              {name} on {channel} ({person})
            </span>
            <ActionButton
              label="That is me"
              name={`${name} on ${channel}: that is me`}
              isBusy={isBusy}
              onPress={() => take('setup/add-owner', { person })}
            />
          </div>
        )}
      </List>
      <AnswerNote answer={answer} />
    </Step>
  );
}
