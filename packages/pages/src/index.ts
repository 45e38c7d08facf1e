export { html } from 'hono/html';
export { assetResponse } from './asset-response.ts';
export { type AssetName, readAsset } from './assets.ts';
export { bars } from './chart/bars.ts';
export {
  type Figures,
  type Legend,
  type Look,
  moment,
  type Series,
  share,
  short,
  sum,
} from './chart/chart.ts';
export { plot } from './chart/plot.ts';
export { bullets } from './chart/rows.ts';
export { spark } from './chart/spark.ts';
export { type Confirmation, confirmationIn, cookie, cookieIn } from './cookies.ts';
export { copyable, copyButton } from './copy.ts';
export { difference, differenceOf } from './difference.ts';
export { MAX_FIELDS, readFields } from './fields.ts';
export { type Field, type Filled, fieldsOf, form, hiddenFields, type Problem } from './form.ts';
export { type FrameContent, frame } from './frame.ts';
export { bodyText, editable, masked, plainLines, withValues } from './json.ts';
export { documentOf, type Markup, pageHeaders } from './layout.ts';
export { type Chip, type Column, chips, columnsOf, list, tableOf } from './list.ts';
export { isFromOwnPage, senderOf } from './own-page.ts';
export { age, span, time, utc } from './quantities.ts';
export { narrowing, paged, pageIn, searchForm, withQuery } from './search.ts';
export { badge, note, type Step, shape, story, type Tone } from './state.ts';
export { capital, count, counted, csvLine, groupedDigits } from './text.ts';
