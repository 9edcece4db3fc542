import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { runOperation } from './gateway.ts';
import { type Route, toHref } from './route.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatAmount } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type MemoryReport = OutputOf<'memory/report'>;
type PersonMemories = MemoryReport['people'][number];
type ListedMemory = PersonMemories['memories'][number];

/** Memories about people, with buttons to delete them (G15). `#/memory/WORDS` searches them. */
export function MemoryView({ args: [words = ''] }: Route): VNode {
  const data = useOperation('memory/report', words === '' ? {} : { words });
  const { outcome, run } = useActionRunner();
  return (
    <ColumnView name="memory-view" title="Memory">
      <MemorySearchForm key={words} words={words} />
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {(report) =>
          report.isOff ? (
            <p class="nothing">Memory is off in the settings (agent.memory).</p>
          ) : (
            <MemoryResults {...report} isSearch={words !== ''} run={run} />
          )
        }
      </DataContent>
    </ColumnView>
  );
}

function MemorySearchForm({ words }: { readonly words: string }): VNode {
  const [typed, setTyped] = useState(words);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    location.hash = typed.trim() === '' ? toHref('memory') : toHref('memory', typed.trim());
  };
  return (
    <form class="row" role="search" onSubmit={onSubmit}>
      <input
        class="field"
        type="search"
        aria-label="Search in memory"
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <ActionButton label="Search" isSubmit />
    </form>
  );
}

interface ReportProps extends MemoryReport {
  readonly isSearch: boolean;
  readonly run: ActionRunner['run'];
}

const answerText = ({ text }: { readonly text: string }) => text;

function MemoryResults({ people, page, notes, found, isSearch, run }: ReportProps): VNode {
  const isEmpty = [people, page, notes, found].every(({ length }) => length === 0);
  return (
    <>
      {isEmpty && (
        <p class="nothing">
          {isSearch
            ? 'No results'
            : 'Nothing has been saved yet. The agent writes down what it should remember.'}
        </p>
      )}
      {people.map((one) => (
        <Person key={one.person} {...one} isSearch={isSearch} run={run} />
      ))}
      {page.length > 0 && (
        <Section title="MEMORY.md">
          <List look="rows is-pairs" of={page}>
            {(text) => (
              <MemoryLine
                key={text}
                text={text}
                file="MEMORY.md"
                onForget={() =>
                  run(() => runOperation('memory/forget-words', { words: text }, answerText))
                }
              />
            )}
          </List>
          <p class="facts">
            <a href={toHref('files', 'MEMORY.md')}>Edit the file</a>. It is tidied up once a day,
            and its history shows what was changed and why.
          </p>
        </Section>
      )}
      {found.length > 0 && (
        <Section title="In notes and knowledge">
          <List look="rows is-pairs" of={found}>
            {({ file, text }) => <MemoryLine key={file + text} text={text} file={file} />}
          </List>
        </Section>
      )}
      {notes.length > 0 && (
        <Section title="Notes">
          <List look="rows" of={notes}>
            {({ file, tokens }) => (
              <>
                <a key={file} href={toHref('files', file)}>
                  {file}
                </a>
                <span class="hint">≈ {formatAmount(tokens)} tokens</span>
              </>
            )}
          </List>
        </Section>
      )}
    </>
  );
}

interface PersonProps extends PersonMemories {
  readonly isSearch: boolean;
  readonly run: ActionRunner['run'];
}

/** The memories about one person, newest first. */
function Person({ person, name, memories, isSearch, run }: PersonProps): VNode {
  const title = person === null ? 'Nobody in particular' : (name ?? person);
  return (
    <Section title={title}>
      {name !== null && <p class="facts">{person}</p>}
      <List look="rows is-pairs" of={memories}>
        {({ file, id, ...memory }: ListedMemory) => (
          <MemoryLine
            key={`${file} ${id}`}
            {...{ file, ...memory }}
            onForget={() => run(() => runOperation('memory/forget', { file, id }, answerText))}
          />
        )}
      </List>
      {person !== null && !isSearch && (
        <p class="actions">
          <ConfirmButton
            label="Forget everything"
            name={`Forget everything: ${title}`}
            look="is-grave"
            confirm="Forget everything"
            question={`This removes all memories of ${title} and everything they said in any chat: messages and answers, files, summaries, prompts and jobs. This cannot be undone. Continue?`}
            onPress={() => run(() => runOperation('memory/forget-person', { person }, answerText))}
          />
        </p>
      )}
    </Section>
  );
}

interface LineProps {
  readonly text: string;
  readonly file: string;
  readonly facts?: string;
  readonly onForget?: () => void;
}

/** The line was written by people or the agent, so it is shown as plain text. */
function MemoryLine({ text, file, facts, onForget }: LineProps): VNode {
  return (
    <>
      <div>
        <OutsideText>{text}</OutsideText>
        <p class="hint">
          {facts && `${facts} · `}
          <a href={toHref('files', file)}>{file}</a>
        </p>
      </div>
      {onForget && (
        <ConfirmButton
          label="Forget"
          name={`Forget: ${text}`}
          confirm="Forget it"
          question="This removes it from files, history and prompts, and cannot be undone. Forget it?"
          onPress={onForget}
        />
      )}
    </>
  );
}
