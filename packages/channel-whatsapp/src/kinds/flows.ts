import type { proto } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { formatAmount } from './payments.ts';
import { formatLabeledLine, joinLines, type KindContent, shortenToLine } from './reading.ts';

/**
 * The fields in the JSON of a button. Each field is parsed separately, so that a malformed field
 * does not affect the others.
 */
const text = z.string().optional().catch(undefined);
const Row = z.object({ title: text, description: text }).catch({});
const Section = z.object({ title: text, rows: z.array(Row).catch([]) }).catch({ rows: [] });
const Button = z.object({
  display_text: text,
  title: text,
  url: text,
  phone_number: text,
  copy_code: text,
  sections: z.array(Section).catch([]),
  currency: text,
  total_amount: z
    .object({ value: z.number(), offset: z.number().default(1) })
    .optional()
    .catch(undefined),
});

type FlowButton = proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton;

/** A button's label with its target, and the rows of the list that it opens. */
export function listButtonLabels({ buttonParamsJson }: FlowButton): readonly string[] {
  const button = Button.safeParse(parseJson(buttonParamsJson)).data;
  if (button === undefined) return [];
  const label = button.display_text ?? button.title;
  const target = button.url ?? button.phone_number ?? button.copy_code;
  const rows = button.sections.flatMap(({ title, rows: some }) => [
    title,
    ...some.map((row) => joinLabel(row.title, row.description)),
  ]);
  return [joinLabel(label, target), ...rows].map(shortenToLine);
}

/** Buttons that request money. */
const PAYMENTS: ReadonlySet<string> = new Set(['payment_info', 'review_and_pay', 'review_order']);

/** The payment request among the buttons; empty if there is none. */
export function findPayment(buttons: readonly FlowButton[]): KindContent {
  const found = buttons.find(({ name }) => PAYMENTS.has(name ?? ''));
  if (found === undefined) return {};
  const { total_amount: total, currency } =
    Button.safeParse(parseJson(found.buttonParamsJson)).data ?? {};
  const amount = total && formatAmount({ ...total, currencyCode: currency ?? null });
  return { shown: formatLabeledLine('Amount', amount), unread: 'a request for a payment' };
}

const Fields = z.record(z.string(), z.unknown());
const Answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
/** Fields that only the app needs, to identify the form. */
const OF_THE_APP: ReadonlySet<string> = new Set(['id', 'flow_token', 'screen']);
/** The maximum number of form fields that are shown. */
const MAX_FIELDS = 50;

/**
 * Reads a choice or a completed form: the visible label if there is one, and otherwise the id,
 * followed by each field of a form.
 */
export function readFlowAnswer(
  shown: string | null | undefined,
  json: string | null | undefined,
): KindContent {
  const fields = Fields.safeParse(parseJson(json)).data ?? {};
  const filled = Object.entries(fields).flatMap(([name, value]) => {
    const { data } = Answer.safeParse(value);
    return OF_THE_APP.has(name) || data === undefined
      ? []
      : [formatLabeledLine(name, String(data))];
  });
  const id = typeof fields.id === 'string' ? fields.id : '';
  const words = joinLines(shown || id, ...filled.slice(0, MAX_FIELDS));
  return words === '' ? { unread: 'a form that they filled in' } : { shown: words };
}

function joinLabel(label: string | undefined, target: string | undefined): string {
  return [label, target].filter(Boolean).join(': ');
}

function parseJson(json: string | null | undefined): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}
