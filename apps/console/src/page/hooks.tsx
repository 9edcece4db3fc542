import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ActionOutcome, createRandomId, performOperation, runOperation } from './gateway.ts';
import { HookForm, type NewHook } from './hook-form.tsx';
import { toHref } from './route.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatMoment } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  LabeledField,
  List,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type HookView = OutputOf<'hooks/list'>['hooks'][number];

/** A new hook, whose token is shown only once. */
interface CreatedHook {
  readonly name: string;
  readonly token: string;
}

/** How often the hooks are requested, in ms, because events arrive at any time. */
const POLL_INTERVAL_MS = 2_000;

/**
 * Hooks for events from other programs (H09): their addresses and latest results, with forms to
 * create and test them.
 */
export function HooksView(): VNode {
  const data = useOperation('hooks/list', {}, POLL_INTERVAL_MS);
  const { outcome, run } = useActionRunner();
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [made, setMade] = useState<CreatedHook | null>(null);
  const open = (yes: boolean): void => {
    setProblem(null);
    setOpen(yes);
  };
  const save = (known: readonly HookView[]) => (hook: NewHook) =>
    run(async () => {
      const token = createRandomId() + createRandomId().slice(16);
      const isTaken = known.some(({ name }) => name === hook.name);
      const done = isTaken
        ? { text: `A hook named ${hook.name} already exists.`, isTrouble: true }
        : await writeHook(hook.name, toHookSettings(hook, token));
      setProblem(done.isTrouble ? done.text : null);
      if (done.isTrouble) return undefined;
      open(false);
      setMade({ name: hook.name, token });
      return done;
    });
  return (
    <ColumnView name="hooks-view" title="Hooks">
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {({ hooks }) => (
          <>
            {isOpen ? (
              <HookForm problem={problem} save={save(hooks)} cancel={() => open(false)} />
            ) : (
              <p class="actions">
                <ActionButton label="New hook" onPress={() => open(true)} />
              </p>
            )}
            {made && <HookAddress {...made} />}
            {hooks.length === 0 ? (
              <p class="facts">
                No hooks yet. A hook lets another program (CI, monitoring, Home Assistant) trigger
                the agent.
              </p>
            ) : (
              <Section title="Addresses and events">
                <List look="cards" of={hooks}>
                  {(hook) => <HookCard key={hook.name} hook={hook} run={run} />}
                </List>
              </Section>
            )}
          </>
        )}
      </DataContent>
    </ColumnView>
  );
}

/** The hook as it is written to the settings file; empty fields keep their defaults. */
function toHookSettings(hook: NewHook, token: string) {
  const { action, instruction, task, target, signature } = hook;
  return {
    token,
    action,
    ...(action === 'job' ? { instruction } : task.trim() !== '' && { task: task.trim() }),
    ...(action === 'job' && target.trim() !== '' && { target: target.trim() }),
    ...(signature && { signature }),
  };
}

/**
 * Writes a hook into the settings file, whose comments are kept. Without `value`, the hook is
 * removed.
 */
async function writeHook(
  name: string,
  value?: ReturnType<typeof toHookSettings>,
): Promise<ActionOutcome> {
  const settings = await performOperation('settings/show', {});
  if (settings.kind === 'failed') return { text: settings.reason, isTrouble: true };
  const changes = [{ path: ['hooks', name], ...(value && { value }) }];
  const { print } = settings.value;
  const answer = await performOperation('settings/change', { print, changes });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  switch (answer.value.kind) {
    case 'refused':
      return { text: answer.value.problems.map(({ text }) => text).join(' '), isTrouble: true };
    case 'outdated':
      return { text: 'The settings have just changed. Try again.', isTrouble: true };
    default:
      return { text: `Saved. The hook ${name} takes effect in a moment.`, isTrouble: false };
  }
}

const hookAddress = (name: string) => `${location.origin}/hooks/${name}`;

const SAMPLE = '{"text": "The build of main failed."}';

/**
 * The address and token for a sender. The token is stored in the settings file and never shown
 * again.
 */
function HookAddress({ name, token }: CreatedHook): VNode {
  const lines = [
    `curl ${hookAddress(name)} \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${SAMPLE}'`,
  ];
  return (
    <section class="card" aria-label={`The address of ${name}`}>
      <p>
        The token of {name} is shown only once. It is stored in the settings file; you can move it
        to a variable.
      </p>
      <OutsideText as="pre" look="layer-text">
        {lines.join('\n')}
      </OutsideText>
    </section>
  );
}

interface HookProps {
  readonly hook: HookView;
  readonly run: ActionRunner['run'];
}

/** The answers to a hook's events come from the agent, so they are shown as plain text. */
function HookCard({ hook, run }: HookProps): VNode {
  const { name, action, instruction, task, target, events } = hook;
  const [isTested, setTested] = useState(false);
  const [body, setBody] = useState(SAMPLE);
  const test = () => run(() => runOperation('hooks/test', { name, body }, ({ text }) => text));
  return (
    <article class="card" aria-label={name}>
      <header>
        <h4>{name}</h4>
        <span class="hint">{hookAddress(name)}</span>
      </header>
      {action === 'job' ? (
        <OutsideText look="as-typed">{instruction}</OutsideText>
      ) : (
        <p>Runs {task ?? 'the most overdue standing task'}.</p>
      )}
      {action === 'job' && <p class="facts">Answers go to {target}.</p>}
      <List look="rows" of={events}>
        {({ id, at, outcome, said }) => (
          <div key={id}>
            <p class="facts">
              {action === 'job' ? (
                <a href={toHref('why', id)}>{formatMoment(at)}</a>
              ) : (
                formatMoment(at)
              )}
              : {outcome}
            </p>
            {said !== null && <OutsideText look="as-typed">{said}</OutsideText>}
          </div>
        )}
      </List>
      {events.length === 0 && <p class="facts">No events yet.</p>}
      {isTested && (
        <LabeledField label="A sample event" id={`hook-body-${name}`}>
          <textarea
            id={`hook-body-${name}`}
            class="field"
            rows={4}
            value={body}
            onInput={({ currentTarget: { value } }) => setBody(value)}
          />
        </LabeledField>
      )}
      <div class="actions">
        <ActionButton
          label={isTested ? 'Send' : 'Test'}
          name={`${isTested ? 'Send' : 'Test'}: ${name}`}
          onPress={isTested ? test : () => setTested(true)}
        />
        <ConfirmButton
          label="Remove"
          name={`Remove: ${name}`}
          look="is-grave"
          question="Its URL and token will stop working."
          confirm="Remove it"
          onPress={() => run(() => writeHook(name))}
        />
      </div>
    </article>
  );
}
