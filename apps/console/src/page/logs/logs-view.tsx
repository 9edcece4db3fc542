import type { LogLevelName } from '@parley/gateway/api';
import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Route, toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatCounted } from '../ui/format.ts';
import { ColumnView } from '../ui/frames.tsx';
import { DataContent, TextButton } from '../ui/widgets.tsx';
import { LogLines } from './log-lines.tsx';
import { ReportSection } from './report-section.tsx';

type LogReport = OutputOf<'logs/read'>;

/** How often the page refreshes while following new lines, in ms. */
const POLL_INTERVAL_MS = 2_000;

const LEVELS: Readonly<Record<LogLevelName, string>> = {
  debug: 'All',
  info: 'Info and above',
  warn: 'Warnings and errors',
  error: 'Errors',
};

/** The filter for the lines; an empty field matches everything. */
interface LogFilter {
  readonly level: string;
  readonly channel: string;
  readonly conversation: string;
  readonly text: string;
}

/**
 * The log of all reachable processes (U03): `#/logs/LEVEL/CHANNEL/CONVERSATION/TEXT`, where `-`
 * stands for any value.
 */
export function LogsView({ args }: Route): VNode {
  const [level = 'info', channel = '', conversation = '', text = ''] = args.map((arg) =>
    arg === '-' ? '' : arg,
  );
  const filter = { level, channel, conversation, text };
  return (
    <ColumnView name="logs-view is-wide" title="Logs">
      <LogPages key={JSON.stringify(filter)} {...filter} />
      <ReportSection />
    </ColumnView>
  );
}

/**
 * The filters, and below them a page of lines, which is either the newest page, updated
 * continuously, or an older one.
 */
function LogPages(filter: LogFilter): VNode {
  const [pages, setPages] = useState<readonly number[]>([]);
  const [follows, setFollows] = useState(true);
  const before = pages.at(-1);
  const given = Object.entries(filter).filter(([, value]) => value !== '');
  // An address may contain anything, so the gateway validates it.
  const query = { ...Object.fromEntries(given), before } as InputOf<'logs/read'>;
  const isLive = follows && before === undefined;
  const data = useOperation('logs/read', query, isLive ? POLL_INTERVAL_MS : undefined);
  return (
    <>
      <Filters {...filter} channels={data.value?.channels ?? []} />
      <label class="row">
        <input
          type="checkbox"
          checked={isLive}
          disabled={before !== undefined}
          onChange={({ currentTarget }) => setFollows(currentTarget.checked)}
        />{' '}
        Follow new lines
      </label>
      <DataContent data={data}>
        {(report) => (
          <>
            <LogLines lines={report.lines} isOfMany={report.processes.length > 1} />
            <p class="actions">
              {before !== undefined && <TextButton label="Newest" onPress={() => setPages([])} />}
              {report.next !== null && (
                <TextButton
                  label="Older lines"
                  onPress={() => report.next !== null && setPages([...pages, report.next])}
                />
              )}
            </p>
            <ReachedProcesses {...report} />
          </>
        )}
      </DataContent>
    </>
  );
}

function Filters(props: LogFilter & Pick<LogReport, 'channels'>): VNode {
  const { level, channel, conversation, text, channels } = props;
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (event.currentTarget instanceof HTMLFormElement) apply(event.currentTarget);
  };
  const apply = (form: HTMLFormElement): void => {
    const given = new FormData(form);
    const names = ['level', 'channel', 'conversation', 'text'];
    const args = names.map((name) => String(given.get(name) ?? '').trim() || '-');
    location.hash = toHref('logs', ...args);
  };
  const onChange = (event: Event): void => {
    if (event.currentTarget instanceof HTMLSelectElement && event.currentTarget.form !== null)
      apply(event.currentTarget.form);
  };
  const known = channel === '' || channels.includes(channel) ? channels : [...channels, channel];
  return (
    <form class="row" role="search" onSubmit={onSubmit}>
      <select class="field" name="level" aria-label="Level" value={level} onChange={onChange}>
        {Object.entries(LEVELS).map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select class="field" name="channel" aria-label="Channel" value={channel} onChange={onChange}>
        <option value="">All channels</option>
        {known.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <input
        class="field grow"
        name="conversation"
        aria-label="Conversation"
        placeholder="Conversation (its id)"
        maxLength={700}
        defaultValue={conversation}
      />
      <input
        class="field grow"
        type="search"
        name="text"
        aria-label="Text"
        placeholder="Text in the line"
        maxLength={200}
        defaultValue={text}
      />
      <button type="submit" class="quiet">
        Search
      </button>
    </form>
  );
}

/** The processes that wrote the lines, and those that could not be reached. */
function ReachedProcesses({ processes, unreachable }: LogReport): VNode {
  return (
    <>
      <p class="facts">
        Lines of {formatCounted(processes.length, 'process', 'processes')} are stored in this data
        folder: {processes.join(', ') || 'none; the setting log.keepMegabytes may be 0'}.
      </p>
      {unreachable.length > 0 && (
        <p class="facts" role="status">
          Not shown, because they use another data folder or do not store their log:{' '}
          {unreachable.join(', ')}. Run "parley logs" on their machine.
        </p>
      )}
    </>
  );
}
