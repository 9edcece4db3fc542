import type { OutputOf } from '@parley/gateway/operations';
import type { Ref, VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { AgentsHere } from '../agents.tsx';
import { type ActionOutcome, performOperation } from '../gateway.ts';
import type { ActionRunner } from '../ui/data.tsx';
import { openEditor, type TextEditor } from '../ui/editor.ts';
import { ActionButton, ConfirmButton, OutsideText } from '../ui/widgets.tsx';
import { type FileDraft, readDraft, storeDraft } from './draft.ts';
import { MARKDOWN } from './markdown.ts';

export type OpenFile = OutputOf<'files/open'>;

interface FileEditorPaneProps {
  readonly file: OpenFile;
  readonly work: ActionRunner;
}

/**
 * A file's editor and the actions for the file. The typed text is kept, regardless of what happens
 * to the file in the meantime.
 */
export function FileEditorPane({ file, work }: FileEditorPaneProps): VNode {
  const { name } = file;
  const typed = useTypedText(file, () => isChanged && save(typed.base.print));
  const { box, text, base, sent } = typed;
  const isChanged = text !== base.text || file.print === null;
  const save = (print: string | null) =>
    work.run(async () => {
      sent.current = text;
      const outcome = await saveFile(name, { base: print, text });
      if (outcome.isTrouble) sent.current = null;
      return outcome;
    });
  const isOvertaken = file.print !== base.print && text !== base.text && sent.current === null;
  return (
    <>
      <div class="editor" ref={box} />
      <p class="hint">Ctrl-S saves; Escape, then Tab leaves the editor.</p>
      {isOvertaken && (
        <FileConflictNote file={file} onOverwrite={() => save(file.print)} onTake={typed.take} />
      )}
      <div class="actions">
        <ActionButton
          label={isChanged ? 'Save' : 'Nothing to save'}
          look="is-main"
          isBusy={!isChanged}
          onPress={() => save(base.print)}
        />
        {file.print !== null && (
          <ConfirmButton
            label="Remove"
            name={`Remove ${name}`}
            look="is-grave"
            confirm="Remove it"
            question="The agent can no longer read it. Its history is kept, so you can restore it."
            onPress={() => work.run(() => saveFile(name, { base: file.print, text: null }))}
          />
        )}
      </div>
    </>
  );
}

/** The initial text of a new file, which only the owner may read until this line is removed. */
const NEW_TEXT = '---\naudience: owner\n---\n\n';

function getDraftBase({ print, text }: OpenFile): FileDraft['base'] {
  return { print, text: text ?? NEW_TEXT };
}

/**
 * The name under which a file's draft is kept. The name includes the agent, because several agents
 * have files with the same name. It stays fixed while the file is shown, because the draft is
 * written when the view changes.
 */
function useDraftName(name: string): string {
  const { chosen } = useContext(AgentsHere);
  return useState(chosen && !chosen.isDefault ? `@${chosen.name}/${name}` : name)[0];
}

/**
 * The text in the editor, and the version of the file on which it is based. A draft from an earlier
 * visit is restored.
 */
function useTypedText(file: OpenFile, onSave: () => void) {
  const { name } = file;
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor>();
  /** The text that was saved but has not been read back from the file yet. */
  const sent = useRef<string | null>(null);
  const owned = useDraftName(name);
  const [draft] = useState(() => readDraft(owned));
  const [base, setBase] = useState(draft?.base ?? getDraftBase(file));
  const [text, setText] = useState(draft?.text ?? base.text);
  const latest = useRef({ onSave, base, text });
  latest.current = { onSave, base, text };
  useEffect(() => {
    if (box.current === null) return;
    const opened = openEditor(box.current, {
      text,
      label: `Text of ${name}`,
      extensions: MARKDOWN,
      onChange: setText,
      onSave: () => latest.current.onSave(),
    });
    editor.current = opened;
    const keep = (): void => {
      const { base, text } = latest.current;
      storeDraft(owned, text === base.text ? null : { base, text });
    };
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
      opened.close();
    };
  }, []);
  const take = (): void => {
    const next = getDraftBase(file);
    setBase(next);
    if (editor.current?.text() !== next.text) editor.current?.replace(next.text);
  };
  useEffect(() => {
    if (file.print === base.print) return;
    const known = sent.current ?? base.text;
    // Text typed since then is kept. A secret that was typed is masked from now on.
    if (editor.current?.text() === known) take();
    else if (sent.current !== null) setBase({ print: file.print, text: sent.current });
    sent.current = null;
  }, [file.print]);
  const slot: Ref<HTMLDivElement> = box;
  return { box: slot, text, base, sent, take };
}

interface FileConflictNoteProps {
  readonly file: OpenFile;
  readonly onOverwrite: () => void;
  readonly onTake: () => void;
}

/** Someone else changed the file while it was being edited. */
function FileConflictNote({ file, onOverwrite, onTake }: FileConflictNoteProps): VNode {
  return (
    <section class="card" aria-label="The file has changed">
      <p>
        <b>The file has changed since you opened it.</b> Your version is in the editor. If you
        overwrite the other version, it stays in the history.
      </p>
      <details>
        <summary>Current version</summary>
        <OutsideText as="pre" look="layer-text">
          {file.text ?? '(removed)'}
        </OutsideText>
      </details>
      <div class="actions">
        <ActionButton label="Overwrite with mine" look="is-main" onPress={onOverwrite} />
        <ConfirmButton
          label="Use the other version"
          confirm="Use it"
          question="This discards what you typed. Use the other version?"
          onPress={onTake}
        />
      </div>
    </section>
  );
}

async function saveFile(
  name: string,
  order: { readonly base: string | null; readonly text: string | null },
): Promise<ActionOutcome> {
  const answer = await performOperation('files/save', { name, ...order });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  if (answer.value.kind === 'outdated') {
    return { text: 'Not saved: the file changed in the meantime.', isTrouble: true };
  }
  const text = order.text === null ? 'Removed.' : 'Saved. It applies from the next message on.';
  return { text, isTrouble: false };
}
