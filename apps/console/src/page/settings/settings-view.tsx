import type { SettingsWritten, ShownProblem, ShownSettings } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Outcome, order, perform, readPath } from '../gateway.ts';
import { hrefOf, type Route } from '../route.ts';
import { useData, useOperation, useWork, type Work } from '../ui/data.tsx';
import { ColumnView } from '../ui/frames.tsx';
import { ConfirmButton, OutcomeNote, Said, Show } from '../ui/widgets.tsx';
import type { ValueChange } from './draft.ts';
import type { Schema } from './fields.ts';
import { SettingsFile } from './settings-file.tsx';
import { SettingsForm } from './settings-form.tsx';

/** The change to write: values, or the whole text. */
export type Change = { readonly changes: readonly ValueChange[] } | { readonly text: string };

/** Writes a change; what is refused is shown at its places. */
export type Save = (change: Change) => void;

/** The settings: a form made from their schema, or the file itself (U03, D12). Both refuse what would not start. */
export function SettingsView({ args: [part = 'form'] }: Route): VNode {
  const settings = useOperation('settings/show', {});
  const schema = useData<Schema>(readPath('settings/schema', {}));
  const work = useWork();
  const [refused, setRefused] = useState<readonly ShownProblem[]>([]);
  const save =
    ({ print }: ShownSettings): Save =>
    (change) =>
      work.run(async () => {
        const answer =
          'text' in change
            ? await perform('settings/replace', { ...change, print })
            : await perform('settings/change', { ...change, print });
        if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
        const { value } = answer;
        setRefused(value.kind === 'refused' ? value.problems : []);
        return OUTCOMES[value.kind];
      });
  return (
    <ColumnView name="settings-view" title="Settings">
      <nav class="tabs" aria-label="Settings as">
        <a href={hrefOf('settings')} aria-current={part === 'form' ? 'page' : undefined}>
          Form
        </a>
        <a href={hrefOf('settings', 'file')} aria-current={part === 'file' ? 'page' : undefined}>
          File
        </a>
      </nav>
      <Show data={settings}>
        {(shown) => (
          <>
            <State settings={shown} refused={refused} work={work} />
            <Show data={schema}>
              {(known) =>
                part === 'file' ? (
                  <SettingsFile
                    key={shown.print}
                    settings={shown}
                    schema={known}
                    problems={refused.length > 0 ? refused : shown.problems}
                    save={save(shown)}
                  />
                ) : (
                  <SettingsForm
                    settings={shown}
                    schema={known}
                    problems={refused}
                    save={save(shown)}
                  />
                )
              }
            </Show>
          </>
        )}
      </Show>
    </ColumnView>
  );
}

const OUTCOMES: Readonly<Record<SettingsWritten['kind'], Outcome>> = {
  written: { text: 'Saved. The file as it was lies beside it.', isTrouble: false },
  unchanged: { text: 'The file says so already.', isTrouble: false },
  refused: {
    text: 'Nothing was saved: Parley could not use these settings.',
    isTrouble: true,
  },
  outdated: {
    text: 'Nothing was saved: the file has changed since it was shown here. Look at it again.',
    isTrouble: true,
  },
};

interface StateProps {
  readonly settings: ShownSettings;
  readonly refused: readonly ShownProblem[];
  readonly work: Work;
}

/** The outcome of the last change, the problems of the file, and the settings that wait for a start. */
function State({ settings, refused, work }: StateProps): VNode {
  const { file, problems, state } = settings;
  const shown = refused.length > 0 ? refused : problems;
  const restart = () => order('gateway/restart', {}, () => 'Parley starts again.');
  return (
    <>
      <OutcomeNote outcome={work.outcome} />
      <p class="facts">{file}</p>
      {shown.map(({ path, text }) => (
        <Said key={path + text} as="pre" look="problem">
          {text}
        </Said>
      ))}
      {state.afterRestart.length > 0 && (
        <section class="card" aria-label="Waits for a start">
          <p>
            {state.afterRestart.join(', ')}: saved, but used from the next start only. Everything
            else counts already.
          </p>
          <div class="actions">
            <ConfirmButton
              label="Start again"
              confirm="Start again"
              question="Turns that are under way begin again afterwards. Start again now?"
              onPress={() => work.run(restart)}
            />
          </div>
        </section>
      )}
    </>
  );
}
