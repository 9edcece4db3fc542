import type { Button, OutboundPart } from '@parley/core';
import { z } from 'zod';
import type { MessageBody } from './api.ts';

/**
 * Message flag: the message consists only of components. Discord does not allow the flag to be
 * removed later.
 */
const COMPONENTS_V2 = 1 << 15;
/** Types of components: https://discord.com/developers/docs/components/reference */
const [ROW, BUTTON, SELECT, TEXT_INPUT, TEXT, CONTAINER, LABEL] = [1, 2, 3, 4, 10, 17, 18];
const BUTTONS_IN_A_ROW = 5;
const [PLAIN, STYLES] = [2, { primary: 1, success: 3, danger: 4 }] as const;
/** The maximum number of options in a select, and of characters in the text of a form. */
const MAX_OPTIONS = 25;
const MAX_WORDS = 4_000;
/** The `style` of a multi-line text input. */
const PARAGRAPH = 2;
/** The ids of a message's only select and of a form's only input. */
const [MENU, WORDS] = ['menu', 'words'];

/**
 * Arranges a message part's buttons in rows. More than five choices become a menu. The last button,
 * which cancels, stays below the menu. So do buttons with a color and buttons that ask for text.
 */
export function layOutButtons(buttons: readonly Button[]): MessageBody[] {
  const placed = buttons.map((button, place) => ({ button, place }));
  const choices = placed.filter(({ button: { style, asks }, place }) => {
    return style === undefined && asks === undefined && place < buttons.length - 1;
  });
  if (choices.length <= BUTTONS_IN_A_ROW || choices.length > MAX_OPTIONS)
    return createButtonRows(placed);
  const others = placed.filter((one) => !choices.includes(one));
  return [{ type: ROW, components: [createSelect(choices)] }, ...createButtonRows(others)];
}

interface IndexedButton {
  readonly button: Button;
  readonly place: number;
}

function createSelect(choices: readonly IndexedButton[]): MessageBody {
  const options = choices.map(({ button: { label, data }, place }) => {
    return { label, value: formatButtonId(place, data) };
  });
  return { type: SELECT, custom_id: MENU, placeholder: 'Choose one', options };
}

function createButtonRows(buttons: readonly IndexedButton[]): MessageBody[] {
  const rows: MessageBody[] = [];
  for (let start = 0; start < buttons.length; start += BUTTONS_IN_A_ROW) {
    const row = buttons.slice(start, start + BUTTONS_IN_A_ROW);
    rows.push({
      type: ROW,
      components: row.map(({ button: { label, data, style, asks }, place }) => ({
        type: BUTTON,
        style: style === undefined ? PLAIN : STYLES[style],
        label,
        custom_id:
          asks === undefined ? formatButtonId(place, data) : formatInputButtonId(asks, data),
      })),
    });
  }
  return rows;
}

/**
 * Renders an approval request as a card, with its entire text and the buttons inside the same
 * frame. Returns undefined if the message part is not such a request.
 */
export function createApprovalCard(part: OutboundPart, base: MessageBody): MessageBody | undefined {
  const { buttons = [], file, body } = part;
  const styles = buttons.map(({ style }) => style);
  if (file !== undefined || !styles.includes('success') || !styles.includes('danger'))
    return undefined;
  const { content: _content, flags = 0, ...others } = base;
  const components = [{ type: TEXT, content: body.text }, ...layOutButtons(buttons)];
  return {
    ...others,
    flags: Number(flags) | COMPONENTS_V2,
    components: [{ type: CONTAINER, components }],
  };
}

/** The body that replaces the content of a component-only message by a text without buttons. */
export function createTextCard(base: MessageBody, text: string): MessageBody {
  const { content: _content, flags = 0, ...others } = base;
  const components = [{ type: TEXT, content: text }];
  return { ...others, flags: Number(flags) | COMPONENTS_V2, components };
}

/** One of the bot's messages, as contained in an interaction. */
interface InteractionMessage {
  readonly flags?: number | undefined;
  readonly components?: readonly unknown[] | undefined;
}

/** Removes a message's buttons and keeps its text, which is also a component in a card. */
export function removeButtons({ flags = 0, components = [] }: InteractionMessage): MessageBody {
  if ((flags & COMPONENTS_V2) === 0) return { components: [] };
  return { flags: COMPONENTS_V2, components: removeRows(components) };
}

const Component = z.looseObject({ type: z.int() });
const Children = z.object({ components: z.array(z.unknown()) });

function removeRows(components: readonly unknown[]): readonly unknown[] {
  return components.flatMap((component) => {
    const read = Component.safeParse(component);
    if (!read.success || read.data.type === ROW) return [];
    const inner = Children.safeParse(read.data);
    return inner.success
      ? [{ ...read.data, components: removeRows(inner.data.components) }]
      : [read.data];
  });
}

const TextDisplay = z.object({ type: z.literal(TEXT), content: z.string() });

/** A message's visible text: its content, or the text in its components. */
export function getVisibleText(message: {
  readonly content?: unknown;
  readonly components?: unknown;
}): string {
  const { content } = message;
  const texts = typeof content === 'string' && content !== '' ? [content] : [];
  return [...texts, ...listTexts(message.components)].join('\n');
}

function listTexts(components: unknown): readonly string[] {
  if (!Array.isArray(components)) return [];
  return components.flatMap((component: unknown) => {
    const text = TextDisplay.safeParse(component);
    if (text.success) return [text.data.content];
    const inner = Children.safeParse(component);
    return inner.success ? listTexts(inner.data.components) : [];
  });
}

/** The form in which a person enters the text for which a button asks. */
export function createInputForm({ asks, data }: InputRequest): MessageBody {
  const input = {
    type: TEXT_INPUT,
    custom_id: WORDS,
    style: PARAGRAPH,
    required: true,
    min_length: 1,
    max_length: MAX_WORDS,
  };
  return {
    title: asks,
    custom_id: `${WORDS}:${data}`,
    components: [{ type: LABEL, label: asks, component: input }],
  };
}

/**
 * Builds a button id. Discord refuses two buttons with the same id, so each id begins with the
 * button's index. A button id has at most 67 characters; Discord allows 100.
 */
function formatButtonId(place: number, data: string): string {
  return `${place}:${data}`;
}

/**
 * Builds the id of a button that asks for text. A field name may contain any character, so it is
 * preceded by its length.
 */
function formatInputButtonId(asks: string, data: string): string {
  return data.length + asks.length < MAX_ID - 4 ? `?${asks.length}:${asks}${data}` : `?0:${data}`;
}

/** The maximum length of a component's id, in characters. */
const MAX_ID = 100;
const USUAL_NAME = 'Your answer';

/** The field for which a button asks, and the text before its value. */
export interface InputRequest {
  readonly asks: string;
  readonly data: string;
}

/** What a person did with one of the bot's components. */
export type PressResult =
  | { readonly kind: 'wrote'; readonly text: string }
  | ({ readonly kind: 'asks' } & InputRequest);

/** The data of an interaction with a component or a form. */
export interface PressData {
  readonly custom_id?: string | undefined;
  readonly values?: readonly string[] | undefined;
  readonly components?: unknown;
}

/**
 * Parses a pressed button, a choice or a completed form; undefined if it does not belong to Parley.
 */
export function parsePress({
  custom_id: id = '',
  values,
  components,
}: PressData): PressResult | undefined {
  if (id === MENU) return toTextResult(parseButtonId(values?.[0] ?? ''));
  const [, form] = /^words:([\s\S]+)$/.exec(id) ?? [];
  if (form !== undefined) {
    const words = getFormInputValue(components).trim();
    return toTextResult(words === '' ? undefined : `${form} ${words}`);
  }
  const [, length, rest] = /^\?(\d{1,2}):([\s\S]+)$/.exec(id) ?? [];
  if (length === undefined || rest === undefined) return toTextResult(parseButtonId(id));
  const asks = rest.slice(0, Number(length)) || USUAL_NAME;
  return { kind: 'asks', asks, data: rest.slice(Number(length)) };
}

function toTextResult(text: string | undefined): PressResult | undefined {
  return text === undefined ? undefined : { kind: 'wrote', text };
}

/** The data of a pressed button; undefined if the button does not belong to Parley. */
export function parseButtonId(customId: string): string | undefined {
  return /^\d{1,2}:([\s\S]+)$/.exec(customId)?.[1];
}

const Input = z.object({ custom_id: z.literal(WORDS), value: z.string() });
const Labelled = z.object({ component: z.record(z.string(), z.unknown()) });

/** Reads the value of a form's input, whose parent is a label or a row. */
function getFormInputValue(components: unknown): string {
  if (!Array.isArray(components)) return '';
  for (const component of components as readonly unknown[]) {
    const labelled = Labelled.safeParse(component);
    const input = Input.safeParse(labelled.success ? labelled.data.component : component);
    if (input.success) return input.data.value;
    const inner = Children.safeParse(component);
    const found = inner.success ? getFormInputValue(inner.data.components) : '';
    if (found !== '') return found;
  }
  return '';
}
