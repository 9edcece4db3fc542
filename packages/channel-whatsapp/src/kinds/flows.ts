import type { proto } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { amountOf } from './payments.ts';
import { joinLines, labelledLine, type Reading, shortLine } from './reading.ts';

/** The JSON of a button; each field on its own, so that an odd one loses itself alone. */
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

/** The label of a button with what it leads to, and the rows of a list behind it. */
export function buttonLabels({ buttonParamsJson }: FlowButton): readonly string[] {
  const button = Button.safeParse(jsonOf(buttonParamsJson)).data;
  if (button === undefined) return [];
  const label = button.display_text ?? button.title;
  const target = button.url ?? button.phone_number ?? button.copy_code;
  const rows = button.sections.flatMap(({ title, rows: some }) => [
    title,
    ...some.map((row) => joinLabel(row.title, row.description)),
  ]);
  return [joinLabel(label, target), ...rows].map(shortLine);
}

/** Buttons that ask for money. */
const PAYMENTS: ReadonlySet<string> = new Set(['payment_info', 'review_and_pay', 'review_order']);

/** The request for a payment that buttons make; nothing where there is none. */
export function paymentIn(buttons: readonly FlowButton[]): Reading {
  const found = buttons.find(({ name }) => PAYMENTS.has(name ?? ''));
  if (found === undefined) return {};
  const { total_amount: total, currency } =
    Button.safeParse(jsonOf(found.buttonParamsJson)).data ?? {};
  const amount = total && amountOf({ ...total, currencyCode: currency ?? null });
  return { shown: labelledLine('Amount', amount), unread: 'a request for a payment' };
}

const Fields = z.record(z.string(), z.unknown());
const Answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
/** The fields by which the app knows which form was filled in. */
const OF_THE_APP: ReadonlySet<string> = new Set(['id', 'flow_token', 'screen']);
/** Fields of a form that are shown. */
const MAX_FIELDS = 50;

/** The choice or form: as the person saw it, else its id, and each field of a form. */
export function readFlowAnswer(
  shown: string | null | undefined,
  json: string | null | undefined,
): Reading {
  const fields = Fields.safeParse(jsonOf(json)).data ?? {};
  const filled = Object.entries(fields).flatMap(([name, value]) => {
    const { data } = Answer.safeParse(value);
    return OF_THE_APP.has(name) || data === undefined ? [] : [labelledLine(name, String(data))];
  });
  const id = typeof fields.id === 'string' ? fields.id : '';
  const words = joinLines(shown || id, ...filled.slice(0, MAX_FIELDS));
  return words === '' ? { unread: 'a form that they filled in' } : { shown: words };
}

function joinLabel(label: string | undefined, target: string | undefined): string {
  return [label, target].filter(Boolean).join(': ');
}

function jsonOf(json: string | null | undefined): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}
