import type { proto } from '@whiskeysockets/baileys';
import { findPayment, listButtonLabels, readFlowAnswer } from './flows.ts';
import { findHeaderFile } from './media.ts';
import { formatLocationLine } from './places.ts';
import {
  type FoundFile,
  formatHeading,
  formatLabeledLine,
  formatMoney,
  joinLines,
  type KindContent,
  shortenToLine,
  toSafeInteger,
} from './reading.ts';

type Message = proto.IMessage;

/**
 * The labels of buttons, lists and carousels as text, because they are choices that the person
 * sees.
 */
function renderChoices(labels: readonly (string | null | undefined)[]): string {
  const shown = labels.map(shortenToLine).filter((label) => label !== '');
  return shown.map((label) => `- ${label}`).join('\n');
}

/** Reads the text of a business message, or names the message if it has no text. */
function readTextOrName(what: string, shown: string, files: readonly FoundFile[]): KindContent {
  return shown === '' && files.length === 0 ? { unread: what } : { shown, files };
}

/** The header fields above the text. */
type MessageHeader = Pick<
  Message,
  'imageMessage' | 'videoMessage' | 'documentMessage' | 'locationMessage' | 'productMessage'
>;

function readMessageHeader(header: MessageHeader | null | undefined) {
  const place = header?.locationMessage;
  const product = header?.productMessage;
  return {
    words: joinLines(place && formatLocationLine(place), product && renderProduct(product)),
    files: header ? findHeaderFile(header) : [],
  };
}

export function readButtons(message: proto.Message.IButtonsMessage): KindContent {
  const { text, contentText, footerText, buttons } = message;
  const above = readMessageHeader(message);
  const labels = (buttons ?? []).map(({ buttonText }) => buttonText?.displayText);
  const words = joinLines(above.words, text, contentText, footerText, renderChoices(labels));
  return readTextOrName('a message with buttons', words, above.files);
}

export function readListMessage(message: proto.Message.IListMessage): KindContent {
  const { title, description, buttonText, footerText, sections, productListInfo } = message;
  const rows = (sections ?? []).flatMap((section) => [
    section.title,
    ...(section.rows ?? []).map((row) => [row.title, row.description].filter(Boolean).join(': ')),
  ]);
  const products = (productListInfo?.productSections ?? []).map((section) => section.title);
  const words = joinLines(
    title,
    description,
    renderChoices([...rows, ...products]),
    footerText,
    buttonText,
  );
  return readTextOrName('a list to choose from', words, []);
}

/**
 * Reads an interactive message. The cards in a carousel have the same structure, but they are not
 * nested further.
 */
export function readInteractiveMessage(message: proto.Message.IInteractiveMessage): KindContent {
  const card = readCard(message);
  const cards = (message.carouselMessage?.cards ?? []).map(readCard);
  const payment = findPayment(message.nativeFlowMessage?.buttons ?? []);
  const words = joinLines(card.words, ...cards.map((one) => one.words), payment.shown);
  const files = [...card.files, ...cards.flatMap((one) => one.files)];
  if (payment.unread !== undefined) return { shown: words, files, unread: payment.unread };
  return readTextOrName('an interactive message', words, files);
}

function readCard({ header, body, footer, nativeFlowMessage }: proto.Message.IInteractiveMessage) {
  const above = readMessageHeader(header);
  const labels = (nativeFlowMessage?.buttons ?? []).flatMap(listButtonLabels);
  const title = joinLines(header?.title, header?.subtitle);
  const words = joinLines(title, above.words, body?.text, footer?.text, renderChoices(labels));
  return { words, files: above.files };
}

export function readTemplateMessage(message: proto.Message.ITemplateMessage): KindContent {
  const { hydratedTemplate, hydratedFourRowTemplate, fourRowTemplate } = message;
  const hydrated = hydratedTemplate ?? hydratedFourRowTemplate;
  const inside = message.interactiveMessageTemplate;
  if (inside) return readInteractiveMessage(inside);
  if (fourRowTemplate && !hydrated) return readFourRows(fourRowTemplate);
  const above = readMessageHeader(hydrated);
  const labels = (hydrated?.hydratedButtons ?? []).flatMap((button) => [
    button.quickReplyButton?.displayText,
    renderLabel(button.urlButton?.displayText, button.urlButton?.url),
    renderLabel(button.callButton?.displayText, button.callButton?.phoneNumber),
  ]);
  const words = joinLines(
    above.words,
    hydrated?.hydratedTitleText,
    hydrated?.hydratedContentText,
    hydrated?.hydratedFooterText,
    renderChoices(labels),
  );
  return readTextOrName('a template message', words, above.files);
}

function readFourRows(rows: proto.Message.TemplateMessage.IFourRowTemplate): KindContent {
  const above = readMessageHeader(rows);
  const parts = [rows.highlyStructuredMessage, rows.content, rows.footer];
  const words = joinLines(
    above.words,
    ...parts.map((part) => part && renderStructuredMessage(part)),
  );
  return readTextOrName('a template message', words, above.files);
}

function renderLabel(label: string | null | undefined, target: string | null | undefined): string {
  return [shortenToLine(label), shortenToLine(target)].filter((part) => part !== '').join(': ');
}

/**
 * Reads a business message whose text is on the business's server; the message contains only the
 * parameters.
 */
export function readStructuredMessage(
  message: proto.Message.IHighlyStructuredMessage,
): KindContent {
  if (message.hydratedHsm) return readTemplateMessage(message.hydratedHsm);
  const words = renderStructuredMessage(message);
  return { shown: words, unread: 'a template message' };
}

function renderStructuredMessage(message: proto.Message.IHighlyStructuredMessage): string {
  const localized = (message.localizableParams ?? []).map((param) => param.default);
  return joinLines(...[...(message.params ?? []), ...localized].map(shortenToLine));
}

export function readProduct(message: proto.Message.IProductMessage): KindContent {
  const { product, catalog, body, footer } = message;
  const picture = product?.productImage ?? catalog?.catalogImage;
  const files = picture ? findHeaderFile({ imageMessage: picture }) : [];
  return readTextOrName('a product', joinLines(renderProduct(message), body, footer), files);
}

function renderProduct({ product, catalog }: proto.Message.IProductMessage): string {
  const about = product ?? catalog;
  if (!about || (!about.title && !about.description && !product?.url)) return '';
  const price = formatMoney(product?.priceAmount1000, product?.currencyCode);
  const label = product ? 'Product' : 'Catalog';
  return joinLines(
    formatHeading(label, about.title),
    formatLabeledLine('Price', price),
    about.description,
    formatLabeledLine('Link', product?.url),
  );
}

export function readOrder(order: proto.Message.IOrderMessage): KindContent {
  const count = toSafeInteger(order.itemCount) ?? 0;
  const total = formatMoney(order.totalAmount1000, order.totalCurrencyCode);
  const words = joinLines(
    order.orderTitle && formatHeading('Order', order.orderTitle),
    count > 0 && formatLabeledLine('Items', String(count)),
    formatLabeledLine('Total', total),
    order.message,
  );
  // Only WhatsApp's server knows the ordered items.
  return { shown: words, unread: 'the items of an order' };
}

export function readButtonChoice(choice: proto.Message.IButtonsResponseMessage): KindContent {
  return { shown: choice.selectedDisplayText || choice.selectedButtonId };
}

export function readListChoice(choice: proto.Message.IListResponseMessage): KindContent {
  const { title, description, singleSelectReply } = choice;
  return { shown: title || description || singleSelectReply?.selectedRowId };
}

export function readTemplateChoice(choice: proto.Message.ITemplateButtonReplyMessage): KindContent {
  return { shown: choice.selectedDisplayText || choice.selectedId };
}

/**
 * Reads a choice or form in a business message. The visible label is used if there is one, and
 * otherwise the id. Parley does not send such messages, because phones do not show them if a
 * program sends them. Parley's own choices are numbered text.
 */
export function readInteractiveChoice(
  answer: proto.Message.IInteractiveResponseMessage,
): KindContent {
  return readFlowAnswer(answer.body?.text, answer.nativeFlowResponseMessage?.paramsJson);
}
