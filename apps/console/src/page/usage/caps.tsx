import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { formatAmount, formatCounted } from '../ui/format.ts';
import { List, Section } from '../ui/widgets.tsx';
import { formatCost, formatMoney } from './figures.ts';

type UsageReport = OutputOf<'usage/report'>;
type UsageCap = UsageReport['caps'][number];

const WHOSE: Readonly<Record<UsageCap['name'], string>> = {
  totalDaily: 'Everyone together',
  perPersonDaily: 'Most by one person',
  perGroupDaily: 'Most by one group',
  perStrangerDaily: 'One stranger',
};

/** Each cap in the settings, and the share already used. */
export function Caps({ caps, today }: Pick<UsageReport, 'caps' | 'today'>): VNode {
  // Whether the price of a model is known does not depend on the person.
  const { unpriced } = today;
  return (
    <Section title="Today’s caps" look="usage-caps">
      {caps.length === 0 && (
        <p>
          No cap is set. Today: {formatAmount(today.tokens)} tokens, {formatCost(today)}. The
          setting <code>spend.totalDaily</code> limits a day.
        </p>
      )}
      <List look="cards" of={caps}>
        {({ name, tokens, usd, used }) => (
          <article key={name} class="card">
            <p>
              <b>{WHOSE[name]}</b> <code class="hint">spend.{name}</code>
            </p>
            {tokens !== undefined && (
              <UsageCapRow
                used={used && used.tokens / tokens}
                text={`${used ? formatAmount(used.tokens) : 'unknown'} of ${formatCounted(tokens, 'token')}`}
              />
            )}
            {usd !== undefined && (
              <UsageCapRow
                used={used && (unpriced === 0 || used.costUsd > 0) ? used.costUsd / usd : null}
                text={`${used ? formatCost({ ...used, unpriced }) : 'unknown'} of ${formatMoney(usd)}`}
              />
            )}
          </article>
        )}
      </List>
    </Section>
  );
}

/** `used` is the share that has been used, which can exceed 1; null if it is unknown. */
function UsageCapRow({
  used,
  text,
}: {
  readonly used: number | null;
  readonly text: string;
}): VNode {
  return (
    <p class={`bound tone ${used !== null && used >= 1 ? 'is-full' : ''}`}>
      {text}
      {used !== null && (
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-ground" width={100} height={1} />
          <rect class="bar-one" width={100 * Math.min(1, used)} height={1} />
        </svg>
      )}
    </p>
  );
}
