import type { OutputOf } from '@parley/gateway/operations';
import type { Ref, VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { AgentsHere } from '../agents.tsx';
import { type Outcome, perform } from '../gateway.ts';
import type { Work } from '../ui/data.tsx';
import { type Editor, openEditor } from '../ui/editor.ts';
import { ActionButton, ConfirmButton, Said } from '../ui/widgets.tsx';
import { type Draft, draftOf, keepDraft } from './draft.ts';
import { MARKDOWN } from './markdown.ts';

export type OpenFile = OutputOf<'files/open'>;

interface EditingProps {
  readonly file: OpenFile;
  readonly work: Work;
}

/** The editor of a file with what can be done. The text that is typed stays, whatever happens to the file meanwhile. */
export function Editing({ file, work }: EditingProps): VNode {
  const { name } = file;
  const typed = useTyped(file, () => isChanged && save(typed.base.print));
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
        <Overtaken file={file} onOverwrite={() => save(file.print)} onTake={typed.take} />
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
            question="The agent can no longer read it. Its history stays, so you can restore it."
            onPress={() => work.run(() => saveFile(name, { base: file.print, text: null }))}
          />
        )}
      </div>
    </>
  );
}

/** The text of a new file, which is the owner's until a person removes that line. */
const NEW_TEXT = '---\naudience: owner\n---\n\n';

function baseOf({ print, text }: OpenFile): Draft['base'] {
  return { print, text: text ?? NEW_TEXT };
}

/** The files of several agents have the same names. It stays while the file is shown: it is kept when another view is. */
function useNameOfDraft(name: string): string {
  const { chosen } = useContext(AgentsHere);
  return useState(chosen && !chosen.isDefault ? `@${chosen.name}/${name}` : name)[0];
}

/** The text in the editor, and the file that it was made from; a draft of an earlier visit is taken up. */
function useTyped(file: OpenFile, onSave: () => void) {
  const { name } = file;
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>();
  /** The saved text that is not seen in the file yet. */
  const sent = useRef<string | null>(null);
  const owned = useNameOfDraft(name);
  const [draft] = useState(() => draftOf(owned));
  const [base, setBase] = useState(draft?.base ?? baseOf(file));
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
      keepDraft(owned, text === base.text ? null : { base, text });
    };
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
      opened.close();
    };
  }, []);
  const take = (): void => {
    const next = baseOf(file);
    setBase(next);
    if (editor.current?.text() !== next.text) editor.current?.replace(next.text);
  };
  useEffect(() => {
    if (file.print === base.print) return;
    const known = sent.current ?? base.text;
    // What is typed since then stays; a secret that was typed is hidden from now on.
    if (editor.current?.text() === known) take();
    else if (sent.current !== null) setBase({ print: file.print, text: sent.current });
    sent.current = null;
  }, [file.print]);
  const slot: Ref<HTMLDivElement> = box;
  return { box: slot, text, base, sent, take };
}

interface OvertakenProps {
  readonly file: OpenFile;
  readonly onOverwrite: () => void;
  readonly onTake: () => void;
}

/** The file changed elsewhere while it was edited here. */
function Overtaken({ file, onOverwrite, onTake }: OvertakenProps): VNode {
  return (
    <section class="card" aria-label="The file has changed">
      <p>
        <b>The file has changed since you opened it.</b> Yours is in the editor; the other one is
        kept in the history if you save over it.
      </p>
      <details>
        <summary>The file as it is now</summary>
        <Said as="pre" look="layer-text">
          {file.text ?? '(removed)'}
        </Said>
      </details>
      <div class="actions">
        <ActionButton label="Save mine over it" look="is-main" onPress={onOverwrite} />
        <ConfirmButton
          label="Take the other"
          confirm="Take it"
          question="What you have typed is dropped. Take the other text?"
          onPress={onTake}
        />
      </div>
    </section>
  );
}

async function saveFile(
  name: string,
  order: { readonly base: string | null; readonly text: string | null },
): Promise<Outcome> {
  const answer = await perform('files/save', { name, ...order });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  if (answer.value.kind === 'outdated') {
    return { text: 'Nothing was saved: the file has changed meanwhile.', isTrouble: true };
  }
  const text = order.text === null ? 'Removed.' : 'Saved. It counts from the next message on.';
  return { text, isTrouble: false };
}
