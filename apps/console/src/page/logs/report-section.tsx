import type { BugReport } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ActionOutcome, performOperation } from '../gateway.ts';
import { useActionRunner } from '../ui/data.tsx';
import { formatAmount } from '../ui/format.ts';
import { ActionButton, List, OutcomeNote, OutsideText, Section } from '../ui/widgets.tsx';

/** A bundle for a bug report (U03). The person can read the whole bundle before saving it. */
export function ReportSection(): VNode {
  const [report, setReport] = useState<BugReport | null>(null);
  const { outcome, run } = useActionRunner();
  const collect = async (): Promise<ActionOutcome | undefined> => {
    const answer = await performOperation('report/bundle', {});
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    setReport(answer.value);
    return undefined;
  };
  return (
    <Section title="Report a bug">
      <p class="facts">
        A bundle with versions, settings, checks and the last log lines. Secrets, names, ids and
        messages are hidden: only text from Parley's own source code is shown.
      </p>
      <OutcomeNote outcome={outcome} />
      {report === null ? (
        <ActionButton label="Prepare a bundle" onPress={() => run(collect)} />
      ) : (
        <>
          <List of={report.files}>
            {({ name, text }) => (
              <details key={name}>
                <summary>
                  {name} <span class="hint">{formatAmount(text.length)} characters</span>
                </summary>
                <OutsideText as="pre" look="layer-text">
                  {text}
                </OutsideText>
              </details>
            )}
          </List>
          <p class="actions">
            <ActionButton
              label="Save the bundle"
              look="is-main"
              onPress={() => downloadReport(report)}
            />
            <ActionButton label="Prepare it again" onPress={() => run(collect)} />
          </p>
        </>
      )}
    </Section>
  );
}

/** Saves exactly what is shown; nothing is sent anywhere. */
function downloadReport({ name, archive }: BugReport): void {
  const bytes = Uint8Array.from(atob(archive), (character) => character.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/gzip' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
