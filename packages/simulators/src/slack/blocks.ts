import { parseMrkdwn } from './parse-mrkdwn.ts';
import { convertMarkdown } from './read-markdown.ts';
import { type DisplayNames, type RichText, toMrkdwn, toPlainText } from './rich-text.ts';
import { isRecord, type Json, toRecords, type WireBlock } from './wire.ts';

/**
 * Returns the blocks as the servers store them: Markdown is converted, and every block has an id.
 */
export function toStoredBlocks(blocks: readonly Json[], nextId: () => string): WireBlock[] {
  return blocks
    .flatMap((block): WireBlock[] =>
      block.type === 'markdown'
        ? convertMarkdown(String(block.text))
        : [{ ...block, type: String(block.type) }],
    )
    .map((block) => {
      const { elements, accessory } = block;
      const named = (element: unknown) =>
        isRecord(element) && element.action_id === undefined && isInteractive(element)
          ? { ...element, action_id: nextId() }
          : element;
      return {
        ...block,
        block_id: block.block_id ?? nextId(),
        ...(block.type === 'actions' &&
          Array.isArray(elements) && { elements: elements.map(named) }),
        ...(isRecord(accessory) && { accessory: named(accessory) }),
      };
    });
}

/** Returns the rich text block of a message that has only text. */
export function toTextBlocks(text: string, nextId: () => string): WireBlock[] {
  return [{ type: 'rich_text', block_id: nextId(), elements: parseMrkdwn(text) }];
}

/** Converts the blocks of a message written in Markdown to mrkdwn, for its `text`. */
export function blocksToMrkdwn(blocks: readonly WireBlock[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'rich_text') return toMrkdwn(getRichText(block));
      if (block.type === 'header') return `*${getText(block.text)}*`;
      return block.type === 'table'
        ? getTableRows(block)
            .map((row) => row.map(cellToMrkdwn).join(' | '))
            .join('\n')
        : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}

function cellToMrkdwn(cell: Json): string {
  return cell.type === 'rich_text' ? toMrkdwn(getRichText(cell)) : String(cell.text ?? '');
}

/** Returns the visible text of blocks without formatting and buttons. */
export function blocksToPlainText(blocks: readonly Json[], names: DisplayNames): string {
  return blocks
    .map((block) => blockToPlainText(block, names))
    .filter((text) => text !== '')
    .join('\n');
}

function blockToPlainText(block: Json, names: DisplayNames): string {
  switch (block.type) {
    case 'rich_text':
      return toPlainText(getRichText(block), names);
    case 'header':
      return getText(block.text);
    case 'section':
      return [block.text, ...toRecords(block.fields)]
        .filter(isRecord)
        .map((text) => textObjectToPlainText(text, names))
        .join('\n');
    case 'context':
      return toRecords(block.elements)
        .map((one) =>
          one.type === 'image' ? String(one.alt_text ?? '') : textObjectToPlainText(one, names),
        )
        .join(' ');
    case 'image':
      return [getText(block.title), String(block.alt_text ?? '')].filter(Boolean).join('\n');
    case 'table':
      return getTableRows(block)
        .map((row) => row.map((cell) => cellToPlainText(cell, names)).join(' | '))
        .join('\n');
    default:
      return getText(block.text) || (typeof block.title === 'string' ? block.title : '');
  }
}

export function getTableRows({ rows }: Json): readonly (readonly Json[])[] {
  return Array.isArray(rows) ? rows.map(toRecords) : [];
}

function cellToPlainText(cell: Json, names: DisplayNames): string {
  return cell.type === 'rich_text'
    ? toPlainText(getRichText(cell), names)
    : String(cell.text ?? '');
}

/** Returns the visible text of a text object. */
function textObjectToPlainText({ type, text }: Json, names: DisplayNames): string {
  const source = String(text ?? '');
  return type === 'mrkdwn' ? toPlainText(parseMrkdwn(source), names) : source;
}

function getText(value: unknown): string {
  return isRecord(value) ? String(value.text ?? '') : '';
}

export function getRichText({ elements }: Json): readonly RichText[] {
  return toRecords(elements) as readonly Json[] as readonly RichText[];
}

/** A button or menu option in a message. */
export interface PressableElement {
  readonly type: string;
  readonly label: string;
  readonly block: WireBlock;
  readonly element: Json;
  readonly option?: Json;
}

/** The buttons of blocks and the options of their menus. */
export function listPressableElements(blocks: readonly WireBlock[]): PressableElement[] {
  return blocks.flatMap((block) => {
    const elements = [...toRecords(block.elements), block.accessory].filter(isRecord);
    return elements.filter(isInteractive).flatMap((element): PressableElement[] => {
      const type = String(element.type);
      if (type === 'button') return [{ type, label: getText(element.text), block, element }];
      return toRecords(element.options).map((option) => {
        return { type, label: getText(option.text), block, element, option };
      });
    });
  });
}

function isInteractive({ type }: Json): boolean {
  return /^(?:button|static_select|multi_static_select|overflow|radio_buttons|checkboxes)$/.test(
    String(type),
  );
}
