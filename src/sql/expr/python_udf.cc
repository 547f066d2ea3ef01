#include "sql/expr/python_udf.h"

namespace thalweg::sql {

PythonUdf::PythonUdf(PythonFunctionPtr function, ExprList arguments, std::vector<std::string> keywords, ExprId result_id)
    : Expr(kKind, std::move(arguments)), function_(std::move(function)), keywords_(std::move(keywords)), result_id_(result_id) {}

ExprPtr PythonUdf::Make(PythonFunctionPtr function, ExprList arguments, std::vector<std::string> keywords, ExprId result_id) {
  keywords.resize(arguments.size());
  return ExprPtr(new PythonUdf(std::move(function), std::move(arguments), std::move(keywords), result_id));
}

std::shared_ptr<Expr> PythonUdf::Clone() const { return std::shared_ptr<Expr>(new PythonUdf(*this)); }

bool PythonUdf::deterministic() const { return function_->deterministic && Expr::deterministic(); }

ExprPtr PythonUdf::WithChildren(ExprList children) const {
  std::shared_ptr<PythonUdf> copy(new PythonUdf(function_, std::move(children), keywords_, result_id_));
  copy->keywords_.resize(copy->children_.size());  // a star may have become columns
  copy->origin_ = origin_;
  return copy;
}

std::string PythonUdf::Sql() const {
  std::string text = function_->name + "(";
  for (size_t i = 0; i < children_.size(); ++i) {
    if (i > 0) text += ", ";
    if (!keywords_[i].empty()) text += keywords_[i] + " => ";
    text += children_[i]->Sql();
  }
  return text + ")";
}

std::string PythonUdf::PlanText() const {
  return function_->name + "(" + JoinPlanTexts(children_) + ")" + AttributeText("", result_id_, type(), "{}");
}

bool PythonUdf::Equals(const Expr& other) const {
  const auto* udf = other.As<PythonUdf>();
  if (udf == nullptr || !EqualLists(children_, udf->children_)) return false;
  if (udf->result_id_ == result_id_ && udf->function_ == function_) return true;
  const PythonFunction& a = *function_;
  const PythonFunction& b = *udf->function_;
  return a.deterministic && b.deterministic && a.eval_type == b.eval_type && a.name == b.name && keywords_ == udf->keywords_ &&
         a.command == b.command && a.return_type == b.return_type;
}

}  // namespace thalweg::sql
