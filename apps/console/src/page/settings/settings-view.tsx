import type {
  SettingsProblemSummary,
  SettingsResponse,
  SettingsWriteResult,
} from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ActionOutcome, performOperation, runOperation } from '../gateway.ts';
import { type Route, toHref } from '../route.ts';
import { type ActionRunner, useActionRunner, useOperation } from '../ui/data.tsx';
import { formatMoment } from '../ui/format.ts';
import { ColumnView } from '../ui/frames.tsx';
import { ConfirmButton, DataContent, OutcomeNote, OutsideText } from '../ui/widgets.tsx';
import type { SaveSettings } from './draft.ts';
import { SettingsFile } from './settings-file.tsx';
import { type EditedValues, SettingsForm } from './settings-form.tsx';

/**
 * The settings: a form generated from their schema, or the file itself (U03, D12). Both the form
 * and the file editor refuse settings with which Parley could not start.
 */
export function SettingsView({ args: [part = 'agent'] }: Route): VNode {
  const settings = useOperation('settings/show', {});
  const schema = useOperation('settings/schema', {});
  const work = useActionRunner();
  const [refusal, setRefusal] = useState<ChangeRefusal | null>(null);
  const [edited, setEdited] = useState<EditedValues>();
  const take = (
    value: SettingsWriteResult,
    print: string,
    outcomes: SaveOutcomes,
  ): ActionOutcome => {
    setRefusal(value.kind === 'refused' ? { print, problems: value.problems } : null);
    return outcomes[value.kind];
  };
  const undo = ({ print }: SettingsResponse) =>
    work.run(async () => {
      const answer = await performOperation('settings/undo', { print });
      return answer.kind === 'failed' ? failed(answer.reason) : take(answer.value, print, UNDONE);
    });
  const save =
    ({ print }: SettingsResponse): SaveSettings =>
    (change) =>
      work.run(async () => {
        const answer =
          'text' in change
            ? await performOperation('settings/replace', { ...change, print })
            : await performOperation('settings/change', { ...change, print });
        return answer.kind === 'failed'
          ? failed(answer.reason)
          : take(answer.value, print, OUTCOMES);
      });
  return (
    <ColumnView name="settings-view" title="Settings">
      <nav class="segments" aria-label="Settings as">
        <a href={toHref('settings')} aria-current={part === 'file' ? undefined : 'page'}>
          Form
        </a>
        <a href={toHref('settings', 'file')} aria-current={part === 'file' ? 'page' : undefined}>
          File
        </a>
      </nav>
      <DataContent data={settings}>
        {(shown) => (
          <>
            <SettingsState settings={shown} refusal={refusal} work={work} />
            <UndoButton settings={shown} onUndo={() => undo(shown)} />
            <DataContent data={schema}>
              {(known) =>
                part === 'file' ? (
                  <SettingsFile
                    key={shown.print}
                    settings={shown}
                    schema={known}
                    problems={getCurrentProblems(shown, refusal)}
                    save={save(shown)}
                  />
                ) : (
                  <SettingsForm
                    settings={shown}
                    schema={known}
                    problems={getCurrentProblems(shown, refusal)}
                    save={save(shown)}
                    chosen={part}
                    edited={edited}
                    setEdited={setEdited}
                  />
                )
              }
            </DataContent>
          </>
        )}
      </DataContent>
    </ColumnView>
  );
}

/** Why a change was refused; it concerns only the file version with this fingerprint. */
interface ChangeRefusal {
  readonly print: string;
  readonly problems: readonly SettingsProblemSummary[];
}

/** The problems of the refused change, or the file's own problems if the file has changed since. */
function getCurrentProblems(
  { print, problems }: SettingsResponse,
  refusal: ChangeRefusal | null,
): readonly SettingsProblemSummary[] {
  return refusal?.print === print ? refusal.problems : problems;
}

type SaveOutcomes = Readonly<Record<SettingsWriteResult['kind'], ActionOutcome>>;

const failed = (text: string): ActionOutcome => ({ text, isTrouble: true });

const OUTCOMES: SaveOutcomes = {
  written: { text: 'Saved. A copy of the previous file was kept.', isTrouble: false },
  unchanged: { text: 'Nothing to save: the file already contains this.', isTrouble: false },
  refused: failed('Nothing was saved: Parley could not use these settings.'),
  outdated: failed('Not saved: the file changed in the meantime. Check it and try again.'),
};

const UNDONE: SaveOutcomes = {
  written: { text: 'The last change was undone. Undo again to restore it.', isTrouble: false },
  unchanged: { text: 'Nothing to undo: the copy is the same as the file.', isTrouble: false },
  refused: failed('Nothing was undone: Parley could not use the previous settings.'),
  outdated: failed('Not undone: the file changed in the meantime. Check it and try again.'),
};

/** Restores the file to its state before the last change saved here or in a chat. */
function UndoButton({
  settings: { savedAt },
  onUndo,
}: {
  readonly settings: SettingsResponse;
  readonly onUndo: () => void;
}): VNode | null {
  if (savedAt === null) return null;
  return (
    <div class="actions">
      <ConfirmButton
        label="Undo the last change"
        confirm="Undo"
        question={`Restore the file as it was before ${formatMoment(Date.parse(savedAt))}? This also undoes edits made by hand since then.`}
        onPress={onUndo}
      />
    </div>
  );
}

interface StateProps {
  readonly settings: SettingsResponse;
  readonly refusal: ChangeRefusal | null;
  readonly work: ActionRunner;
}

/**
 * The outcome of the last change, the problems in the file, and the settings that take effect after
 * a restart.
 */
function SettingsState({ settings, refusal, work }: StateProps): VNode {
  const { file, print, state } = settings;
  const { outcome } = work;
  const isRefusal = outcome === OUTCOMES.refused || outcome === UNDONE.refused;
  const isOver = isRefusal && refusal?.print !== print;
  const restart = () => runOperation('gateway/restart', {}, () => 'Parley is restarting.');
  return (
    <>
      <OutcomeNote outcome={isOver ? undefined : outcome} />
      <p class="facts">{file}</p>
      {getCurrentProblems(settings, refusal).map(({ path, text }) => (
        <OutsideText key={path + text} as="pre" look="layer-text problem">
          {text}
        </OutsideText>
      ))}
      {state.afterRestart.length > 0 && (
        <section class="card" aria-label="Takes effect after a restart">
          <p>
            Saved, takes effect after a restart: {state.afterRestart.join(', ')}. Everything else
            already applies.
          </p>
          <div class="actions">
            <ConfirmButton
              label="Restart"
              confirm="Restart"
              question="Turns in progress will start over after the restart. Restart now?"
              onPress={() => work.run(restart)}
            />
          </div>
        </section>
      )}
    </>
  );
}
