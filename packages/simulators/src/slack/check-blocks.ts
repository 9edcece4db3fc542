import { isRecord, type Json, toRecords } from './wire.ts';

/** The maximum number of blocks in a message. */
const MAX_BLOCKS = 50;
/** The maximum total length of a message's Markdown blocks, in characters. */
const MAX_MARKDOWN = 12_000;
/**
 * Slack refuses a message if the total length of its blocks exceeds a limit that is not documented.
 * The limit was measured in slackapi/bolt-js#2509: 13,297 characters in one block, and 125 fewer
 * for each further block.
 */
const MAX_TOGETHER = 13_422;
const PER_BLOCK = 125;

/**
 * Returns the errors in the blocks of a message in Slack's wording: a reason and a JSON pointer,
 * such as `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`.
 */
export function checkBlocks(blocks: readonly unknown[], at = '/blocks'): string[] {
  const check = new BlockCheck();
  check.items(blocks, at, 1, MAX_BLOCKS);
  const ids = new Set<unknown>();
  for (const [index, block] of blocks.entries()) {
    const place = `${at}/${index}`;
    if (!isRecord(block)) {
      check.fail('must be an object', place);
      continue;
    }
    if (block.block_id !== undefined && ids.has(block.block_id))
      check.fail('`block_id` already exists for another block', `${place}/block_id`);
    ids.add(block.block_id);
    checkBlock(check, block, place);
  }
  const markdown = toRecords(blocks).filter(({ type }) => type === 'markdown');
  const length = markdown.reduce((sum, { text }) => sum + String(text).length, 0);
  if (length > MAX_MARKDOWN)
    check.fail(`markdown text must be less than ${MAX_MARKDOWN + 1} characters`, at);
  return check.errors;
}

/** Whether the blocks exceed Slack's limit on their total length. */
export function isTooLong(blocks: readonly unknown[]): boolean {
  return countTextLength(blocks) + PER_BLOCK * blocks.length > MAX_TOGETHER;
}

function countTextLength(value: unknown): number {
  if (Array.isArray(value))
    return value.reduce<number>((sum, one) => sum + countTextLength(one), 0);
  if (!isRecord(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [name, one]) =>
      sum + (name === 'text' && typeof one === 'string' ? one.length : countTextLength(one)),
    0,
  );
}

class BlockCheck {
  readonly errors: string[] = [];

  fail(reason: string, at: string): void {
    this.errors.push(`${reason} [json-pointer:${at}]`);
  }

  items(value: unknown, at: string, min: number, max: number): readonly Json[] {
    if (!Array.isArray(value)) {
      this.fail('must be an array', at);
      return [];
    }
    if (value.length < min) this.fail(`no fewer than ${min} items allowed`, at);
    if (value.length > max) this.fail(`no more than ${max} items allowed`, at);
    return toRecords(value);
  }

  string(value: unknown, at: string, max: number, isOptional = false): void {
    if (value === undefined && isOptional) return;
    if (typeof value !== 'string') this.fail('must be a string', at);
    else if (value === '' && !isOptional) this.fail('must be more than 0 characters', at);
    else if (value.length > max) this.fail(`must be less than ${max + 1} characters`, at);
  }

  /** Checks a text object; `plain` refuses mrkdwn. */
  text(value: unknown, at: string, max: number, plain = false): void {
    if (!isRecord(value)) {
      this.fail('missing required field: text', at);
      return;
    }
    const types = plain ? ['plain_text'] : ['plain_text', 'mrkdwn'];
    if (!types.includes(String(value.type)))
      this.fail(`unsupported type: ${value.type}`, `${at}/type`);
    this.string(value.text, `${at}/text`, max);
  }

  oneOf(value: unknown, at: string, known: readonly string[]): void {
    if (value !== undefined && !known.includes(String(value)))
      this.fail('value must be one of the allowed values', at);
  }
}

const PASSED = [
  'divider',
  'rich_text',
  'file',
  'video',
  'alert',
  'card',
  'carousel',
  'task_card',
  'plan',
];

function checkBlock(check: BlockCheck, block: Json, at: string): void {
  check.string(block.block_id, `${at}/block_id`, 255, true);
  switch (block.type) {
    case 'section':
      checkSection(check, block, at);
      return;
    case 'header':
      check.text(block.text, `${at}/text`, 150, true);
      return;
    case 'context':
      for (const [index, one] of check.items(block.elements, `${at}/elements`, 1, 10).entries())
        if (one.type !== 'image') check.text(one, `${at}/elements/${index}`, 3_000);
      return;
    case 'actions':
      checkElements(check, check.items(block.elements, `${at}/elements`, 1, 25), `${at}/elements`);
      return;
    case 'context_actions':
      check.items(block.elements, `${at}/elements`, 1, 5);
      return;
    case 'image':
      check.string(block.alt_text, `${at}/alt_text`, 2_000);
      if (block.image_url !== undefined) check.string(block.image_url, `${at}/image_url`, 3_000);
      return;
    case 'markdown':
      check.string(block.text, `${at}/text`, MAX_MARKDOWN);
      return;
    case 'table':
      checkTable(check, block, at);
      return;
    default:
      if (!PASSED.includes(String(block.type)))
        check.fail(`unsupported type: ${block.type}`, `${at}/type`);
  }
}

function checkSection(check: BlockCheck, block: Json, at: string): void {
  if (block.text === undefined && block.fields === undefined)
    check.fail('missing required field: text', at);
  if (block.text !== undefined) check.text(block.text, `${at}/text`, 3_000);
  if (block.fields !== undefined)
    for (const [index, field] of check.items(block.fields, `${at}/fields`, 1, 10).entries())
      check.text(field, `${at}/fields/${index}`, 2_000);
  if (isRecord(block.accessory)) checkElement(check, block.accessory, `${at}/accessory`);
}

function checkTable(check: BlockCheck, { rows }: Json, at: string): void {
  if (!Array.isArray(rows)) {
    check.fail('missing required field: rows', at);
    return;
  }
  if (rows.length > 100) check.fail('no more than 100 items allowed', `${at}/rows`);
  for (const [index, row] of rows.entries()) check.items(row, `${at}/rows/${index}`, 1, 20);
}

function checkElements(check: BlockCheck, elements: readonly Json[], at: string): void {
  const ids = new Set<unknown>();
  for (const [index, element] of elements.entries()) {
    if (element.action_id !== undefined && ids.has(element.action_id))
      check.fail('`action_id` already exists for another element', `${at}/${index}/action_id`);
    ids.add(element.action_id);
    checkElement(check, element, `${at}/${index}`);
  }
}

const OPTIONS: Readonly<Record<string, number>> = {
  static_select: 100,
  multi_static_select: 100,
  radio_buttons: 10,
  checkboxes: 10,
  overflow: 5,
};

function checkElement(check: BlockCheck, element: Json, at: string): void {
  check.string(element.action_id, `${at}/action_id`, 255, true);
  if (element.type === 'button') {
    check.text(element.text, `${at}/text`, 75, true);
    check.string(element.value, `${at}/value`, 2_000, true);
    check.string(element.url, `${at}/url`, 3_000, true);
    check.oneOf(element.style, `${at}/style`, ['primary', 'danger']);
  }
  const most = OPTIONS[String(element.type)];
  if (most === undefined || element.option_groups !== undefined) return;
  for (const [index, option] of check.items(element.options, `${at}/options`, 1, most).entries()) {
    check.text(option.text, `${at}/options/${index}/text`, 75);
    check.string(option.value, `${at}/options/${index}/value`, 150);
  }
}
